import { FEATURES } from '../../features';
import type { MailKind } from '../../foundation/ports/mail';
import { mailsOf } from './mail-gate';
import type { EmailProof } from '../../identity/users/email-proof.policy';
import { mailLimits } from './mail-limits.policy';

const MAILS = mailsOf(FEATURES);

/** The limits of a kind, as `of max/seconds`. */
const limitsOf = (kind: MailKind, proof: EmailProof): string[] | null =>
  mailLimits(MAILS.get(kind)!, proof)?.map(({ of, max, seconds }) => `${of} ${max}/${seconds}`) ?? null;

const BUDGET = ['recipient 10/3600', 'client 6/3600'];
const FEW = 'kind 5/3600';
const PAUSE = 'kind 1/60';

describe('the limits of a mail', () => {
  it.each<[MailKind, others: string[] | null, owners: string[]]>([
    ['passwordReset', BUDGET, [FEW]],
    ['emailVerification', BUDGET, [FEW]],
    ['emailChange', BUDGET, [FEW]],
    ['signInCode', BUDGET, [FEW]],
    ['existingAccount', [...BUDGET, PAUSE], [FEW]],
    ['newSignIn', [...BUDGET, FEW], [FEW]],
    ['emailChanged', [...BUDGET, FEW], [FEW]],
    ['passwordChanged', null, [PAUSE, FEW]],
    ['accountDeleted', null, [PAUSE, FEW]],
    ['accountLocked', null, ['kind 1/3600']],
  ])('%s: by other people, or to an unproved address %j; of its proved owner %j', (kind, others, owners) =>
    expect([limitsOf(kind, 'none'), limitsOf(kind, 'person')]).toEqual([others, owners]),
  );

  it.each<[MailKind, string[]]>([
    ['passwordChanged', [...BUDGET, PAUSE, FEW]],
    ['accountDeleted', [...BUDGET, PAUSE, FEW]],
    ['newSignIn', [FEW]],
    ['emailChanged', [FEW]],
  ])('%s to an address of which only the delivery is proved: %j', (kind, limits) =>
    expect(limitsOf(kind, 'delivery')).toEqual(limits),
  );

  it.each([...MAILS.keys()])('%s shares the budget or is not sent, unless it is the mail of a proved owner', (kind) => {
    const others = limitsOf(kind, 'none');
    expect(others === null || BUDGET.every((limit) => others.includes(limit))).toBe(true);
    const owners = limitsOf(kind, 'person')!;
    expect(owners.length).toBeGreaterThan(0);
    expect(owners.every((limit) => limit.startsWith('kind '))).toBe(true);
  });
});
