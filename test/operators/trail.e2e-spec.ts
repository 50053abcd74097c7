import { actingAs } from '@svc/auth/operators';
import { SessionEnded } from '@svc/auth';
import { historyAt, historyOf, told, trailOf } from '../support/flows/history';
import { asConfirmed, codeOf, completeChallenge, enrolledForFile, startChallenge } from '../support/flows/two-factor';
import { confirmationTokenOf } from '../support/flows/step-up';
import { ADA, PASSWORD } from '../support/hosts/user-entities';
import { claimsOf } from '../support/hosts/app';

const AGENT = 'Mozilla/5.0 (a test)';
const NEW = 'another horse entirely';

const { t, ada } = enrolledForFile({ features: { audit: true, abilities: true } });

/** Signs in with the second factor. */
async function signedIn(): Promise<string> {
  const challenge_token = await startChallenge(t);
  t.clock.advance(30);
  const { body } = await completeChallenge(t, { challenge_token, code: codeOf(t, ada.secret) })
    .set('User-Agent', AGENT)
    .expect(200);
  return body.access_token;
}

describe('the history of an account', () => {
  it('has the sign-ins, the factors, the changes of the password and the ends of sessions, with their clients', async () => {
    const token = await signedIn();
    const proof = (await t.call('post', '/auth/confirm-password', token).send({ password: PASSWORD, code: '' })).body;
    expect(proof).toBeDefined();
    await t.call('post', '/auth/logout', token).expect(204);
    const lines = await historyOf(t, ada.token);
    expect(told(lines)).toEqual(['?']);
  });
});
