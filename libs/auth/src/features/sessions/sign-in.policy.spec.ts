import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type SignInFacts, type SignInVerdict, signInVerdict } from './sign-in.policy';

const TABLE: [facts: SignInFacts, verdict: SignInVerdict, name: string][] = [
  [{}, 'start', 'one factor is enough'],
  [{ secondFactor: 'held' }, 'challenge', 'a second factor is asked'],
  [{ secondFactor: 'held', isUnverified: true, isRefused: true }, 'challenge', 'a second factor is asked first'],
  [{ secondFactor: 'held', isTrusted: true }, 'start', 'a trusted device takes the place of the second factor'],
  [{ secondFactor: 'held', hasTwoFactors: true }, 'start', 'the second factor was passed'],
  [{ secondFactor: 'missing' }, 'enrolment', 'a required second factor is missing'],
  [
    { secondFactor: 'missing', isRefused: true },
    'enrolment',
    'a required second factor is missing, and the host refuses',
  ],
  [{ secondFactor: 'missing', isUnverified: true }, 'unverified', 'a user with an unverified email enrols nothing'],
  [{ secondFactor: 'missing', hasTwoFactors: true }, 'start', 'the missing factor is enrolled by this sign-in'],
  [{ isUnverified: true }, 'unverified', 'the email is not verified'],
  [{ isUnverified: true, isRefused: true }, 'unverified', 'the email is not verified, and the host refuses'],
  [{ isUnverified: true, hasTwoFactors: true }, 'unverified', 'two factors do not verify the email'],
  [{ isUnverified: true, isTrusted: true }, 'unverified', 'a trusted device does not verify the email'],
  [{ isRefused: true }, 'refused', 'the host refuses the user'],
  [{ isRefused: true, hasTwoFactors: true }, 'refused', 'two factors do not change what the host decides'],
  [{ isOutdated: true }, 'outdated', 'the proof has ended'],
  [{ isOutdated: true, isRefused: true }, 'outdated', 'the proof has ended, and the host refuses'],
];

const BOOLEANS = [undefined, false, true];

const EVERY_SIGN_IN: SignInFacts[] = BOOLEANS.flatMap((hasTwoFactors) =>
  BOOLEANS.flatMap((isTrusted) =>
    ([undefined, 'none', 'held', 'missing'] as const).flatMap((secondFactor) =>
      BOOLEANS.flatMap((isUnverified) =>
        BOOLEANS.flatMap((isOutdated) =>
          BOOLEANS.map((isRefused) => ({
            hasTwoFactors,
            isTrusted,
            secondFactor,
            isUnverified,
            isOutdated,
            isRefused,
          })),
        ),
      ),
    ),
  ),
);

describe('the verdict on a sign-in', () => {
  it.each(TABLE)('for %j is %s: %s', (facts, verdict) => expect(signInVerdict(facts)).toBe(verdict));

  it('starts a session only if every rule admits it', () => {
    for (const facts of EVERY_SIGN_IN) {
      const { hasTwoFactors, isTrusted, secondFactor = 'none', isUnverified, isOutdated, isRefused } = facts;
      const isAdmitted = secondFactor === 'none' || hasTwoFactors === true || isTrusted === true;
      const starts = isAdmitted && !isUnverified && !isOutdated && !isRefused;
      expect([facts, signInVerdict(facts) === 'start']).toEqual([facts, starts]);
    }
  });

  it('never becomes more favourable by a fact that is read later', () => {
    for (const { isOutdated, isRefused, ...before } of EVERY_SIGN_IN) {
      if (signInVerdict(before) === 'start') continue;
      expect(signInVerdict({ ...before, isOutdated, isRefused })).toBe(signInVerdict(before));
    }
  });

  it('is in the order of the table in SECURITY.md', () => {
    const page = readFileSync(join(__dirname, '../../../../../SECURITY.md'), 'utf8');
    const [, section = ''] = page.split('### Does this sign-in start a session?');
    const rows = [...section.split('\n### ')[0]!.matchAll(/^\| \d+ +\| .+? +\| `(\w+)` +\|/gm)].map(
      ([, verdict]) => verdict,
    );
    expect(rows).toEqual(['challenge', 'unverified', 'enrolment', 'outdated', 'refused', 'start']);
  });
});
