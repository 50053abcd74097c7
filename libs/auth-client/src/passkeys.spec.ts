import type { AuthClient } from './types.js';
import { FakeServer, pass, useClock } from './server.testkit.js';

const OPTIONS = '/auth/passkeys/login-options';
const TIMEOUT_MS = 120_000;

const base64url = (text: string) => Buffer.from(text).toString('base64url');

/** A request of the client to the browser, which waits in the suggestions of a field. */
interface Suggestion {
  challenge: string;
  isAborted: boolean;
  choose(): void;
  fail(name: string): void;
}

describe('the suggestions of passkeys', () => {
  const page = new EventTarget();
  const suggestions: Suggestion[] = [];
  let available: Promise<boolean>;
  let server: FakeServer;
  let client: AuthClient;

  const uses = async (event = 'pointermove') => {
    page.dispatchEvent(new Event(event));
    await pass(0, 1);
    await pass(1);
  };
  const challenges = () => suggestions.map(({ challenge, isAborted }) => (isAborted ? `not ${challenge}` : challenge));

  beforeEach(() => {
    useClock();
    suggestions.length = 0;
    available = Promise.resolve(true);
    const get = ({ publicKey, signal }: { publicKey: { challenge: Uint8Array }; signal: AbortSignal }) =>
      new Promise((resolve, reject) => {
        const suggestion: Suggestion = {
          challenge: Buffer.from(publicKey.challenge).toString(),
          isAborted: false,
          choose: () => resolve({ rawId: Buffer.from('a passkey'), response: {} }),
          fail: (name) => reject(new DOMException('', name)),
        };
        suggestions.push(suggestion);
        const abort = () => {
          suggestion.isAborted = true;
          reject(signal.reason);
        };
        signal.addEventListener('abort', abort);
        if (signal.aborted) abort();
      });
    Object.defineProperty(globalThis, 'navigator', { value: { credentials: { get } }, configurable: true });
    Object.assign(globalThis, {
      addEventListener: page.addEventListener.bind(page),
      window: page,
      PublicKeyCredential: {
        isConditionalMediationAvailable: () => available,
      },
    });
    server = new FakeServer();
    server.answer = ({ path }) => {
      const id = `challenge ${server.count(OPTIONS)}`;
      return path === OPTIONS
        ? {
            body: {
              ceremony_id: id,
              options: { challenge: base64url(id), timeout: TIMEOUT_MS },
            },
          }
        : { status: 422, body: { message: 'The passkey could not be verified.' } };
    };
    client = server.client();
  });
  afterEach(() => {
    jest.useRealTimers();
    server.stop();
    for (const name of ['addEventListener', 'window', 'PublicKeyCredential', 'navigator'])
      Reflect.deleteProperty(globalThis, name);
  });

  it('need no request while the page is not used, and are renewed at its next use after half of their time', async () => {
    const offer = client.autofillPasskeys();
    await pass(TIMEOUT_MS / 2 - 1000, 1000);
    await uses();
    expect(challenges()).toEqual(['challenge 1']);
    await pass(3_600_000, 60_000);
    expect(server.count(OPTIONS)).toBe(1);
    expect(challenges()).toEqual(['challenge 1']);
    await uses('keydown');
    expect(challenges()).toEqual(['not challenge 1', 'challenge 2']);
    client.close();
    await expect(offer).resolves.toBe(false);
  });

  it('are not closed while the user answers the dialog of the browser', async () => {
    const offer = client.autofillPasskeys();
    await pass(TIMEOUT_MS - 1000, 1000);
    suggestions[0]!.choose();
    await expect(offer).rejects.toMatchObject({ status: 422 });
    expect(server.last).toMatchObject({
      body: { ceremony_id: 'challenge 1', credential: { id: base64url('a passkey') } },
    });
  });

  it('are offered again after a request without an answer, and after a refusal at the end of `Retry-After`', async () => {
    const usual = server.answer;
    server.answer = (request) =>
      [
        undefined,
        'lost' as const,
        'lost' as const,
        { status: 429, body: { message: 'Later.' }, headers: { 'Retry-After': '30' } },
      ][server.count(OPTIONS)] ?? usual(request);
    const offer = client.autofillPasskeys();
    await pass(1);
    for (const [wait, sent] of [
      [5000, 1],
      [10_000, 2],
      [30_000, 3],
    ] as const) {
      await pass(wait - 100);
      await uses();
      expect(server.count(OPTIONS)).toBe(sent);
      // The page is not used.
      await pass(60_000);
      expect(server.count(OPTIONS)).toBe(sent);
      await uses('keydown');
    }
    expect(challenges()).toEqual(['challenge 4']);
    client.close();
    await expect(offer).resolves.toBe(false);
  });

  it('are offered again after the user has cancelled the dialog of the browser', async () => {
    const offer = client.autofillPasskeys();
    await pass(1);
    suggestions[0]!.fail('NotAllowedError');
    await pass(5000);
    await uses('pointerdown');
    expect(challenges()).toEqual(['challenge 1', 'challenge 2']);
    client.close();
    await expect(offer).resolves.toBe(false);
  });

  it('end with the error of a browser that does not allow them here', async () => {
    const offer = client.autofillPasskeys();
    setTimeout(() => suggestions[0]!.fail('SecurityError'), 1);
    const [ended] = await Promise.allSettled([offer, pass(1)]);
    expect(ended).toMatchObject({ status: 'rejected', reason: { name: 'SecurityError' } });
  });

  it('end with the signal of the page, also while they wait after a failure', async () => {
    const left = new AbortController();
    server.answer = () => 'lost';
    const offer = client.autofillPasskeys(left.signal);
    await pass(1000);
    left.abort();
    await expect(offer).resolves.toBe(false);
    await uses();
    expect(server.count(OPTIONS)).toBe(1);
  });

  it.each([
    ['the browser has answered', [true, true]],
    ['the server has answered', [false, true]],
    ['the server has refused', [false, false]],
  ])('do not begin beside a sign-in that begins before %s', async (_, [atBrowser, accepts]) => {
    let answered!: (is: boolean) => void;
    const usual = server.answer;
    const waits = new Promise<boolean>((resolve) => (answered = resolve));
    if (atBrowser) available = waits;
    else
      server.answer = async (request) => {
        if (request.path === OPTIONS) await waits;
        return accepts ? usual(request) : { status: 503, body: {} };
      };
    const offer = client.autofillPasskeys();
    await pass(1);
    await expect(client.login({ email: 'ada' })).rejects.toMatchObject({ reason: null });
    answered(true);
    await expect(offer).resolves.toBe(false);
    expect(suggestions.filter(({ isAborted }) => !isAborted)).toEqual([]);
    expect(server.count(OPTIONS)).toBe(atBrowser ? 0 : 1);
  });
});
