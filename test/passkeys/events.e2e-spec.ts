import { AuthEvents, PasskeyAdded, PasskeyRemoved } from '@svc/auth';
import { eventually } from '../support/eventually';
import { type Confirmed, ORIGIN, PasskeyApp } from '../support/passkeys';
import { SoftAuthenticator } from '../support/soft-authenticator';

describe('a passkey', () => {
  let app: PasskeyApp;
  let ada: Confirmed;
  let added: PasskeyAdded[];
  let removed: PasskeyRemoved[];
  let authenticator: SoftAuthenticator;

  beforeEach(async () => {
    app = await PasskeyApp.start();
    ada = await app.confirmed();
    [added, removed] = [app.t.recorded(PasskeyAdded), app.t.recorded(PasskeyRemoved)];
    authenticator = new SoftAuthenticator(ORIGIN);
  });
  afterEach(() => app.stop());

  it('is told of when it is added and when it is deleted, once it is so', async () => {
    const stored: number[] = [];
    const count = async (): Promise<void> => void stored.push((await app.rows()).length);
    for (const event of [PasskeyAdded, PasskeyRemoved]) app.t.app.get(AuthEvents).on(event, count);
    const id = await app.enrol(ada, authenticator);
    await eventually(async () => stored.length === 1);
    expect([added, removed]).toEqual([[new PasskeyAdded('1', id, 'api')], []]);
    await app.call('delete', `passkeys/${id}`, ada).expect(204);
    await eventually(async () => stored.length === 2);
    expect([added.length, removed]).toEqual([1, [new PasskeyRemoved('1', id, 'api')]]);
    expect(stored).toEqual([1, 0]);
  });

  it('is told of once, however many requests add or delete it at the same time', async () => {
    const credential = authenticator.create(await app.creationOptions(ada));
    const registered = await Promise.all(Array.from({ length: 10 }, () => app.register(ada, credential)));
    expect(registered.filter(({ status }) => status === 204)).toHaveLength(1);
    const remove = () => app.call('delete', `passkeys/${credential.id}`, ada).expect(204);
    await Promise.all(Array.from({ length: 10 }, remove));
    expect([added.length, removed.length]).toEqual([1, 1]);
  });

  it('that is refused, is somebody else`s or is nobody`s is not told of', async () => {
    const id = await app.enrol(await app.confirmed('bob@example.com'), authenticator);
    expect(added.splice(0)).toEqual([new PasskeyAdded('2', id, 'api')]);
    await app.register(ada, {}).expect(422);
    for (const other of [id, 'AAAA', '%20']) await app.call('delete', `passkeys/${other}`, ada).expect(204);
    expect([added, removed]).toEqual([[], []]);
  });

  it('that goes with its account is told of by that alone', async () => {
    await app.enrol(ada, authenticator);
    await app.call('delete', 'account', ada).expect(204);
    expect([await app.rows(), removed]).toEqual([[], []]);
  });
});
