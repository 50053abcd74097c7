import { type AnswerFields, type ChallengeAnswer, type NoAnswer, answerIn } from './challenge-answer.policy';

const NONE: AnswerFields = { code: null, recovery_code: null, ceremony_id: null, credential: null };
const credential = { id: 'x' };

describe('a body answers a login challenge', () => {
  it.each<[string, Partial<AnswerFields>, ChallengeAnswer | NoAnswer]>([
    ['with a code', { code: '1' }, { kind: 'code', code: '1' }],
    ['with a recovery code', { recovery_code: 'r' }, { kind: 'recovery_code', code: 'r' }],
    ['with a passkey', { ceremony_id: 'c', credential }, { kind: 'passkey', ceremonyId: 'c', credential }],
    ['with nothing, as with an empty code', {}, { kind: 'code', code: '' }],
    [
      'with neither of two codes',
      { code: '1', recovery_code: 'r' },
      { problem: 'one_too_many', fields: ['code', 'recovery_code'] },
    ],
    [
      'with neither a code nor the passkey beside it',
      { code: '1', ceremony_id: 'c', credential },
      { problem: 'one_too_many', fields: ['code', 'ceremony_id', 'credential'] },
    ],
    [
      'with neither a recovery code nor half a passkey beside it',
      { recovery_code: 'r', credential },
      { problem: 'one_too_many', fields: ['recovery_code', 'credential'] },
    ],
    [
      'with none of all three',
      { code: '1', recovery_code: 'r', ceremony_id: 'c' },
      { problem: 'one_too_many', fields: ['code', 'recovery_code', 'ceremony_id'] },
    ],
    ['with no ceremony alone', { ceremony_id: 'c' }, { problem: 'missing', fields: ['credential'] }],
    ['with no credential alone', { credential }, { problem: 'missing', fields: ['ceremony_id'] }],
  ])('%s', (_, fields, answer) => expect(answerIn({ ...NONE, ...fields })).toEqual(answer));
});
