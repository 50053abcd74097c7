import type { TestApp } from '../support/app';
import { sha256 } from '../../libs/auth/src/kernel/secrets';
import { member, startMembers } from '../support/members';
import { PASSWORD } from '../support/people';

const ROUNDS = 100;
const AT_ONCE = 50;

describe('one reset token, posted by many at once', () => {
  let t: TestApp;

  beforeAll(async () => {
    ({ t } = await startMembers({ hashing: { memoryCost: 8, timeCost: 1, maxQueue: 1000 } }));
  });
  afterAll(() => t.stop());

  it(`sets one of ${AT_ONCE} passwords, and leaves no session, in ${ROUNDS} rounds`, async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const email = `racer${round}@example.com`;
      const id = await member(t, email);
      const { access_token, refresh_token } = await t.session(email);
      const token = sha256(`token ${round}`);
      await t.database.query(`INSERT INTO svc_password_resets VALUES ('api', '', $1, $2, $3, now())`, [
        id,
        sha256(email),
        sha256(token),
      ]);
      const passwords = Array.from({ length: AT_ONCE }, (_, i) => `horse number ${i} of ${round}`);
      const answers = await Promise.all(
        passwords.map((password) =>
          t.http.post('/auth/reset-password').send({ token, email, password, password_confirmation: password }),
        ),
      );
      const won = passwords.filter((_, i) => answers[i]!.status === 200);
      expect(won).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 422)).toHaveLength(AT_ONCE - 1);
      await t.login(email, won[0]).expect(200);
      for (const lost of [PASSWORD, passwords.find((one) => one !== won[0])]) await t.login(email, lost).expect(422);
      await t.get('/private', access_token).expect(401);
      await t.refresh(refresh_token).expect(401);
    }
  }, 240_000);
});
