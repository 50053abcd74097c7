import { judgeConfirmation } from './step-up.policy';

describe('a proof is judged', () => {
  const ada = { userId: '1', familyId: 'f' };
  it.each<[string, { sub: string; fid?: string } | null, { userId: string; familyId: string | null }, string]>([
    ['of the same user and session', { sub: '1', fid: 'f' }, ada, 'confirmed'],
    ['of none', null, ada, 'missing'],
    ['of another user', { sub: '2', fid: 'f' }, ada, 'missing'],
    ['of an id that only looks alike', { sub: '01', fid: 'f' }, ada, 'missing'],
    ['of another session', { sub: '1', fid: 'g' }, ada, 'other_session'],
    ['of a session in another spelling', { sub: '1', fid: 'F' }, ada, 'other_session'],
    ['without a session, for one', { sub: '1' }, ada, 'other_session'],
    ['of a session, without one', { sub: '1', fid: 'f' }, { userId: '1', familyId: null }, 'other_session'],
    ['without a session, without one', { sub: '1' }, { userId: '1', familyId: null }, 'confirmed'],
    ['of another user and session', { sub: '2', fid: 'g' }, ada, 'missing'],
  ])('%s', (_, proof, caller, verdict) => expect(judgeConfirmation(proof, caller)).toBe(verdict));
});
