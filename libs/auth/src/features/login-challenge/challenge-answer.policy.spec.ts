import { type AnswerFields, type ChallengeAnswer, type NoAnswer, answerIn } from './challenge-answer.policy';

const NONE: AnswerFields = { code: null, recovery_code: null, ceremony_id: null, credential: null };
const credential = { id: 'x' };

describe('the answer to a login challenge', () => {
  it.each<[string, Partial<AnswerFields>, ChallengeAnswer | NoAnswer]>([
    ['is a code', { code: '1' }, { kind: 'code', code: '1' }],
    ['is a recovery code', { recovery_code: 'r' }, { kind: 'recovery_code', code: 'r' }],
    ['is a passkey', { ceremony_id: 'c', credential }, { kind: 'passkey', ceremonyId: 'c', credential }],
    ['is an empty code for an empty body', {}, { kind: 'code', code: '' }],
    [
      'is refused with two codes',
      { code: '1', recovery_code: 'r' },
      { problem: 'one_too_many', fields: ['code', 'recovery_code'] },
    ],
    [
      'is refused with a code and a passkey',
      { code: '1', ceremony_id: 'c', credential },
      { problem: 'one_too_many', fields: ['code', 'ceremony_id', 'credential'] },
    ],
    [
      'is refused with a recovery code and a credential',
      { recovery_code: 'r', credential },
      { problem: 'one_too_many', fields: ['recovery_code', 'credential'] },
    ],
    [
      'is refused with three factors',
      { code: '1', recovery_code: 'r', ceremony_id: 'c' },
      { problem: 'one_too_many', fields: ['code', 'recovery_code', 'ceremony_id'] },
    ],
    ['is refused with a ceremony id only', { ceremony_id: 'c' }, { problem: 'missing', fields: ['credential'] }],
    ['is refused with a credential only', { credential }, { problem: 'missing', fields: ['ceremony_id'] }],
  ])('%s', (_, fields, answer) => expect(answerIn({ ...NONE, ...fields })).toEqual(answer));
});
