import { type AuthModuleOptions, withAuthColumns, withTwoFactorColumns } from '@svc/auth';
import { SoftAuthenticator } from '@svc/auth/testing';
import { Entity, PrimaryGeneratedColumn } from 'typeorm';
import { member, memberOptions, Mailbox } from '../support/hosts/members';
import { ORIGIN, PASSKEYS, PasskeyApp } from '../support/flows/passkeys';
import { ADA } from '../support/flows/step-up';
import { TestApp } from '../support/hosts/app';
import { enrol } from '../support/flows/two-factor';
import { Member } from '../support/hosts/user-entities';
import { describeWithRedis } from '../support/stores/with-redis';

/** The same users, read without the state of their address. */
@Entity('members')
class Colleague extends withTwoFactorColumns(withAuthColumns()) {
  @PrimaryGeneratedColumn('uuid')
  id!: string;
}

const NEXT = 'plum-violin-harbour-7';
const CLIENT = { ip: '203.0.113.9' };
const [ON, OFF] = [{ emailVerification: true }, { emailVerification: false }];

describeWithRedis(
  'a reset removes the factors of an unproved address, and keeps those of a proved one, at each guard',
  () => {
    describe.each<[string, object, NonNullable<AuthModuleOptions['guards']>[string]]>([
      ['of which the default one verifies addresses', ON, { users: { entity: Member }, features: OFF }],
      ['of which the other one verifies addresses', OFF, { users: { entity: Member }, features: ON }],
      [
        'of which the other one cannot read whether they are verified',
        ON,
        { users: { entity: Colleague }, features: OFF },
      ],
      ['of which the other one cannot read it, and inherits the feature', ON, { users: { entity: Colleague } }],
    ])('%s', (_, features, admin) => {
      const mailbox = new Mailbox();
      const options = memberOptions(mailbox, {
        passkeys: PASSKEYS.passkeys,
        features: { ...PASSKEYS.features, twoFactor: true, ...features },
        guards: { admin },
      });
      const t = TestApp.forFile({ options, entities: [Colleague] });
      const passkeys = new PasskeyApp(t);
      beforeEach(() => mailbox.clear());

      async function reset(guard: string): Promise<void> {
        const before = mailbox.mails.length;
        const { passwordReset } = t.auth.guard(guard);
        await passwordReset.request(ADA, CLIENT);
        const token = (await mailbox.linkAfter(before)).searchParams.get('token')!;
        await passwordReset.reset({ token, email: ADA, password: NEXT }, CLIENT);
      }

      it.each(['api', 'admin'])('at the guard "%s"', async (guard) => {
        await member(t, ADA);
        await passkeys.enrol(await passkeys.confirmed(ADA), new SoftAuthenticator(ORIGIN));
        await enrol(t);
        const factors = async (): Promise<unknown> => {
          const [stored] = await t.database.query(
            `SELECT two_factor_secret IS NOT NULL AS code, email_verified_at IS NOT NULL AS verified FROM members`,
          );
          return { ...stored, passkeys: (await passkeys.rows()).length };
        };
        await t.database.query('UPDATE members SET email_verified_at = now()');
        await reset(guard);
        expect(await factors()).toEqual({ code: true, verified: true, passkeys: 1 });
        await t.database.query('UPDATE members SET email_verified_at = NULL');
        t.clock.advance(3600);
        await reset(guard);
        expect(await factors()).toEqual({ code: false, verified: true, passkeys: 0 });
      });
    });
  },
);
