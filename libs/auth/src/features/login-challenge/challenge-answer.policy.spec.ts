import { type AnswerFields, type NoAnswer, answerIn } from './challenge-answer.policy';

const CODE = { fields: ['code'] };
const RECOVERY_CODE = { fields: ['recovery_code'] };
const PASSKEY = { fields: ['ceremony_id', 'credential'] };
const NONE = { code: null, recovery_code: null, ceremony_id: null, credential: null };
const credential = { id: 'x' };

describe('the answer to a login challenge', () => {
  it.each<[string, Partial<Record<keyof typeof NONE, unknown>>, AnswerFields | NoAnswer | null]>([
    ['is a code', { code: '1' }, CODE],
    ['is a recovery code', { recovery_code: 'r' }, RECOVERY_CODE],
    ['is a passkey', { ceremony_id: 'c', credential }, PASSKEY],
    ['is absent in an empty body', {}, null],
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
  ])('%s', (_, fields, answer) =>
    expect(answerIn([CODE, RECOVERY_CODE, PASSKEY], { ...NONE, ...fields })).toEqual(answer),
  );
});
