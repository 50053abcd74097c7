import { Device, type Sent } from '../support/flows/bound-sessions';
import { type Flow, statuses } from './flow';
import type { Node } from './nodes';

/** The address of the application for its clients, whichever node answers. */
export const ADDRESS = 'https://api.test';

/** A request with a proof for the address of the application, and its path. */
export const to = (path: string, more: Sent = {}): Sent => ({
  ...more,
  claims: { htu: ADDRESS + path, ...more.claims },
});

/** Sessions that are bound to a key. */
export function bindingFlows(flow: Flow): void {
  it('bound session: each node asks for the key, and a proof counts once for both', async () => {
    const { a, b, user } = flow;
    const device = await Device.create();
    const { body } = await device.login(a.t, to('/auth/login'), user.email);
    expect(body).toMatchObject({ token_type: 'DPoP' });
    const refreshed = await device.refresh(b.t, body.refresh_token, to('/auth/refresh'));
    const { access_token: token, refresh_token: next } = refreshed.body;
    const proof = await device.proof('GET', ADDRESS + '/private', { token });
    const send = (node: Node, sent: Sent) => device.get(node.t, '/private', token, sent);
    expect(statuses(await Promise.all(flow.nodes.all.map((node) => send(node, { proof }))))).toEqual([200, 401]);
    for (const node of flow.nodes.all) {
      await user.guarded(node, token, 401);
      await user.refresh(node, next, 401);
      expect((await send(node, { proof })).status).toBe(401);
      expect((await send(node, to('/private'))).status).toBe(200);
    }
    expect((await device.refresh(a.t, next, to('/auth/refresh'))).status).toBe(200);
  });
}
