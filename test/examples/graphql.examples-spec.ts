import { createClient } from 'graphql-ws';
import { WebSocket } from 'ws';
import { eventually } from '../support/runtime/eventually';
import { type RunningExample, start } from '../support/packages/example';
import { offersRoutesOf } from './life-of-a-session';

interface Failure {
  message: string;
  extensions: { code: string; status: number; errors?: Record<string, string[]> };
}

interface Tokens {
  accessToken: string;
  refreshToken: string;
}

const PASSWORD = 'a horse with wings';

describe('the example graphql', () => {
  let host: RunningExample;

  beforeAll(async () => {
    host = await start('graphql');
    await data(`mutation { register(name: "Ada", email: "ada@example.com", password: "${PASSWORD}") { accessToken } }`);
  });
  afterAll(() => host?.stop());

  async function send(query: string, token?: string, variables: object = {}) {
    const answer = await fetch(`${host.url}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(token && { Authorization: `Bearer ${token}` }) },
      body: JSON.stringify({ query, variables }),
    });
    const body = await answer.json();
    return { status: answer.status, ...(body as { data?: Record<string, unknown>; errors?: Failure[] }) };
  }
  const data = async (query: string, token?: string): Promise<Record<string, unknown>> => {
    const { data: result, errors } = await send(query, token);
    expect(errors).toBeUndefined();
    return result!;
  };
  const failure = async (query: string, token?: string, variables?: object): Promise<Failure> => {
    const { errors } = await send(query, token, variables);
    expect(errors).toHaveLength(1);
    return errors![0]!;
  };
  const login = async (): Promise<Tokens> => {
    const mutation = `mutation { login(email: "ada@example.com", password: "${PASSWORD}") { accessToken refreshToken } }`;
    return (await data(mutation)).login as Tokens;
  };

  const UNAUTHENTICATED = { code: 'UNAUTHENTICATED', status: 401 };

  it('signs in, guards its resolvers, refreshes, and refuses every token after the sign-out', async () => {
    expect((await failure('{ me { name } }')).extensions).toMatchObject(UNAUTHENTICATED);
    const first = await login();
    expect(await data('{ me { name email } }', first.accessToken)).toEqual({
      me: { name: 'Ada', email: 'ada@example.com' },
    });
    const renewal = (token: string) => `mutation { refresh(refreshToken: "${token}") { accessToken refreshToken } }`;
    const next = (await data(renewal(first.refreshToken))).refresh as Tokens;
    expect(await data('{ me { name } }', next.accessToken)).toEqual({ me: { name: 'Ada' } });
    expect(await data('mutation { logout }', next.accessToken)).toEqual({ logout: true });
    for (const { accessToken } of [first, next])
      expect((await failure('{ me { name } }', accessToken)).extensions).toMatchObject(UNAUTHENTICATED);
    expect((await failure(renewal(next.refreshToken))).extensions).toMatchObject(UNAUTHENTICATED);
  });

  it('refuses a token without the scope', async () => {
    const { accessToken } = await login();
    await data('mutation { addNote(text: "milk") { id } }', accessToken);
    const readOnlyToken = (await data('mutation { readOnlyToken }', accessToken)).readOnlyToken as string;
    expect(await data('{ myNotes { text } }', readOnlyToken)).toEqual({ myNotes: [{ text: 'milk' }] });
    const forbidden = { code: 'FORBIDDEN', status: 403 };
    expect((await failure('mutation { addNote(text: "tea") { id } }', readOnlyToken)).extensions).toMatchObject(
      forbidden,
    );
    expect((await failure('mutation { readOnlyToken }', readOnlyToken)).extensions).toMatchObject(forbidden);
  });

  it('answers invalid input with errors that name the field, and not with a fault', async () => {
    const wrong = 'mutation { login(email: "ada@example.com", password: "wrong") { accessToken } }';
    expect((await failure(wrong)).extensions).toMatchObject({ status: 422, errors: { email: [expect.any(String)] } });
    const short = 'mutation { register(name: "Bob", email: "none", password: "x") { accessToken } }';
    expect((await failure(short)).extensions).toMatchObject({ status: 422, errors: { email: [expect.any(String)] } });
    expect((await failure('{ me { name } }', 'garbage')).extensions).toMatchObject(UNAUTHENTICATED);
    expect(await send('{ me {')).toMatchObject({ status: 400 });
    const typed = 'mutation ($text: String!) { addNote(text: $text) { id } }';
    expect(await send(typed, undefined, { text: { no: 'text' } })).toMatchObject({ status: 400 });
  });

  /** Subscribes with the headers of a handshake. @returns the events, and an end to the subscription */
  function subscribe(headers: Record<string, string>) {
    class WithHeaders extends WebSocket {
      constructor(url: string, protocols?: string | string[]) {
        super(url, protocols, { headers });
      }
    }
    const url = `${host.url.replace('http', 'ws')}/graphql`;
    const client = createClient({ url, webSocketImpl: WithHeaders, retryAttempts: 0 });
    return { client, events: client.iterate({ query: 'subscription { noteAdded { text } }' }) };
  }

  it('sends a note to the subscribers of its owner', async () => {
    const { accessToken } = await login();
    const { client, events } = subscribe({ Authorization: `Bearer ${accessToken}` });
    const received = events.next();
    let isReceived = false;
    void received.then(() => (isReceived = true));
    // The subscription begins after the handshake, so notes are added until one arrives.
    await eventually(async () => {
      await data('mutation { addNote(text: "bread") { id } }', accessToken);
      return isReceived;
    });
    expect((await received).value).toEqual({ data: { noteAdded: { text: 'bread' } } });
    await client.dispose();
  });

  it('refuses a subscription without a token', async () => {
    const { client, events } = subscribe({});
    const refusal = await events.next().then(
      ({ value }) => value.errors,
      (errors: unknown) => errors,
    );
    expect(refusal).toEqual([expect.objectContaining({ extensions: expect.objectContaining(UNAUTHENTICATED) })]);
    await client.dispose();
  });

  it('offers the routes of its page', () => offersRoutesOf('graphql', Object.values(host.urls)));

  it('logs no fault', () => expect(host.logs).not.toContain('ERROR'));
});
