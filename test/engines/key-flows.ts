import { type Flow, statuses } from './flow';
import type { Call } from './nodes';

export const MOST_KEYS = 3;

/** Access keys of a person. */
export function keyFlows(flow: Flow): void {
  /** The request that creates a key, with a session and a confirmation of different nodes. */
  async function creation(): Promise<{ call: Call; token: string }> {
    const { a, b, user } = flow;
    const { access_token: token } = await user.session(a);
    const proof = await user.confirm(b, token);
    return { token, call: { path: '/auth/access-keys', body: { label: 'cron' }, token, proof } };
  }

  const use = (text: string | undefined, status: number): Promise<unknown[]> => {
    const call = { method: 'GET', path: '/orders', token: text! } as const;
    return Promise.all(flow.nodes.all.map((node) => flow.user.call(node, status, call)));
  };

  it('access keys: both nodes accept the key of one, and refuse it at once after its end at the other', async () => {
    const { a, b, user } = flow;
    const { call, token } = await creation();
    const [first, second] = [await user.call(a, 200, call), await user.call(b, 200, call)];
    await use(first.access_key, 200);
    await user.call(a, 204, { method: 'DELETE', path: `/auth/access-keys/${first.id}`, token });
    await use(first.access_key, 401);
    await use(second.access_key, 200);
    await user.call(b, 204, { method: 'DELETE', path: '/auth/sessions', token });
    await use(second.access_key, 401);
  });

  it('access keys: both nodes count them together, also at the same time', async () => {
    const { a, user } = flow;
    const { call } = await creation();
    for (let i = 1; i < MOST_KEYS; i++) await user.call(a, 200, call);
    expect(statuses(await flow.atOnce(call))).toEqual([200, 409]);
  });

  it('access keys: after the deletion of the account both nodes refuse them', async () => {
    const { a, b, user } = flow;
    const { call, token } = await creation();
    const key = await user.call(b, 200, call);
    await user.call(a, 204, { method: 'DELETE', path: '/auth/account', token, proof: call.proof! });
    await use(key.access_key, 401);
  });
}
