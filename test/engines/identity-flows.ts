import { oidc } from '@svc/auth/identities';
import { randomUUID } from 'node:crypto';
import type { Tokens } from '../support/hosts/app';
import { CALLBACK, CLIENT_SECRET, IdentityProviderHost } from '../support/identity-provider/identity-provider';
import { answerOf } from '../support/identity-provider/visit';
import { type Flow, statuses } from './flow';
import { Account, type Call, type Node } from './nodes';

/** The options of nodes with a provider. It verifies the addresses of example.com. */
export const identityOptions = ({ issuer }: IdentityProviderHost) => ({
  providers: {
    acme: oidc({
      issuer,
      clientId: 'app',
      clientSecret: CLIENT_SECRET,
      redirectUris: [CALLBACK],
      authorityFor: ['example.com'],
    }),
  },
});

/** Sign-ins with an account at a provider. */
export function identityFlows(flow: Flow, providerOf: () => IdentityProviderHost): void {
  /** Begins an attempt on a node, signs a person in at the provider, and returns the callback. */
  async function answered(node: Node, subject: string, more: { path?: string; token?: string; proof?: string } = {}) {
    const provider = providerOf();
    provider.people.set(subject, { email: `${subject}@example.com`, email_verified: true, name: 'Grace' });
    provider.signedIn = { subject };
    const path = `/auth/identities/acme${more.path ?? ''}`;
    const begun = await flow.user.call(node, 200, { ...more, path });
    const parameters = String(await answerOf(begun.authorization_url!));
    const body = { parameters, attempt_token: begun.attempt_token, redirect_uri: CALLBACK };
    return { path: `${path}/callback`, body, token: more.token } satisfies Call;
  }

  it('identity: the other node completes the attempt, once, and two first sign-ins at the same time make one account', async () => {
    const { a, b } = flow;
    const [person, newcomer] = [randomUUID(), new Account()];
    const attempts = [await answered(b, person), await answered(a, person)] as const;
    const answers = await flow.atOnce(...attempts, newcomer);
    expect(statuses(answers)).toContain(200);
    const rows = 'SELECT 1 FROM members m LEFT JOIN svc_identities i ON i.user_id = m.id::text WHERE m.email = $1';
    expect(await a.t.database.query(rows, [`${person}@example.com`])).toHaveLength(1);
    const { access_token: token } = await flow.once(200, await answered(a, person), undefined, newcomer);
    await flow.expectLiving(token!);
  });

  it('identity: linked on one node, it signs in on the other, and its removal ends that session on both', async () => {
    const { a, b, user } = flow;
    const person = randomUUID();
    const { access_token: token } = await user.session(a);
    const proof = await user.confirm(b, token);
    const { id } = await user.call(b, 200, await answered(a, person, { path: '/link', token, proof }));
    const session = await user.call(b, 200, await answered(a, person));
    await flow.expectLiving(session.access_token!);
    await user.call(b, 204, { method: 'DELETE', path: `/auth/identities/${id}`, token, proof });
    await flow.expectEnded(session as unknown as Tokens);
    await flow.expectLiving(token);
  });
}
