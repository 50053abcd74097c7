import { TestApp } from '../../../../../test/support/hosts/app';
import { SessionEnded } from './sessions.events';
import { SessionStore } from './session.store';

const IDLE_TIMEOUT = 1200;

describe('a session that is refreshed in the last moment of its idle time', () => {
  const t = TestApp.forFile({ options: { sessions: { idleTimeout: IDLE_TIMEOUT } } });

  it('is not ended by another request that finds it idle', async () => {
    await t.person('ada@example.com');
    const ended = t.recorded(SessionEnded);
    const { refresh_token: token } = await t.session();
    t.clock.advance(IDLE_TIMEOUT + 10);
    const store = t.app.get(SessionStore);
    const end = store.end.bind(store);
    // The refresh of another tab, whose commit this request does not see at first.
    jest.spyOn(store, 'end').mockImplementationOnce(async (...args) => {
      await t.database.query('UPDATE svc_sessions SET last_used_at = $1', [new Date(t.clock.now())]);
      return end(...args);
    });
    await t.refresh(token).expect(200);
    expect(ended).toEqual([]);
  });
});
