import { PHONE, findingsIn } from '../support/accessibility';
import { describeWithBrowser } from '../support/browser';
import { SampleVisit, Tab } from '../support/sample-page';

describeWithBrowser('every view of the page of the sample', () => {
  let visit: SampleVisit;
  let tab: Tab;

  beforeAll(async () => {
    visit = await SampleVisit.begin();
    tab = await visit.tab();
    await tab.page.setViewportSize(PHONE);
    await tab.page.emulateMedia({ reducedMotion: 'reduce' });
  }, 60_000);
  afterAll(() => visit?.end());

  const findings = () => findingsIn(tab.page);

  const at = async (address: string, heading: string) => {
    await tab.page.goto(visit.url + address);
    await tab.sees(heading);
  };
  const press = async (name: string) => {
    await tab.presses(name);
    await tab.dialog().waitFor();
  };

  it.each<[string, () => Promise<unknown>]>([
    ['Sign in', () => tab.sees('Sign in')],
    [
      'Sign in, refused',
      async () => {
        await tab.signsIn('demo@example.com', 'wrong');
        await tab.isRefused('These credentials do not match our records.');
      },
    ],
    ['Create an account', () => at('/#/register', 'Create an account')],
    ['Forgot your password?', () => at('/#/forgot-password', 'Forgot your password?')],
    [
      'Look into your mail',
      async () => {
        await tab.fills({ Email: 'demo@example.com' });
        await tab.presses('Mail the link');
        await tab.sees('Look into your mail');
      },
    ],
    ['Choose a new password', () => at('/reset-password?token=t&email=a%40example.com', 'Choose a new password')],
    ['Choose a new password, without a link', () => at('/reset-password', 'Choose a new password')],
    ['Your address is confirmed', () => at('/verified?verified=1', 'Your address is confirmed')],
    ['Mailbox', () => tab.page.goto(`${visit.url}/mailbox`)],
    [
      'Overview',
      async () => {
        await at('/', 'Sign in');
        await tab.signsIn();
        await tab.sees('Overview');
      },
    ],
    ['Sessions', () => tab.goes('Sessions')],
    ['Sessions, with a question', () => press('Sign out everywhere…')],
    [
      'Password',
      async () => {
        await tab.answers('Cancel');
        await tab.goes('Password');
      },
    ],
    ['Passkeys', () => tab.goes('Passkeys')],
    ['Your data', () => tab.goes('Your data')],
    ['Two-factor, off', () => tab.goes('Two-factor')],
    ['Is it you?', () => press('Set it up')],
    [
      'Two-factor, being set up',
      async () => {
        await tab.confirms();
        await tab.page.getByRole('img', { name: /^QR code/ }).waitFor();
      },
    ],
    [
      'Overview, with something said',
      async () => {
        await tab.goes('Overview');
        await tab.presses('Renew it now');
        await tab.hears('Renewed.');
      },
    ],
  ])('is accessible in light and dark, and fits a phone: %s', async (_, show) => {
    await show();
    expect(await findings()).toEqual([]);
  });

  it('would not pass with a finding: the check itself works under the policy of the page', async () => {
    await tab.page.evaluate("document.querySelector('main').append(document.createElement('input'))");
    expect(await findings()).toContainEqual(expect.stringMatching(/^light: label: <input/));
    await tab.page.evaluate("document.querySelector('main > input').remove()");
  });

  it('has the focus at its heading, and its name in the title', async () => {
    await tab.goes('Sessions');
    expect(await tab.page.evaluate('document.activeElement.textContent')).toBe('Sessions');
    expect(await tab.page.title()).toBe('Sessions · Orders');
    await tab.page.keyboard.press('Tab');
    const outline = await tab.page.evaluate<string>('getComputedStyle(document.activeElement).outlineStyle');
    expect(outline).toBe('solid');
  });

  it('moves nothing for readers who want it still', async () => {
    const properties = await tab.page.evaluate<string>(
      "getComputedStyle(document.querySelector('main')).transitionDuration",
    );
    expect(properties).toBe('0s');
  });

  it('takes passwords, names and codes where password managers look for them', async () => {
    await tab.signsOut();
    const hint = (label: string) => tab.field(label).getAttribute('autocomplete');
    expect([await hint('Email'), await hint('Password')]).toEqual(['username webauthn', 'current-password']);
    await at('/#/register', 'Create an account');
    expect([await hint('Name'), await hint('Email'), await hint('Password')]).toEqual([
      'name',
      'username',
      'new-password',
    ]);
  });

  it.each(['/', '/reset-password?token=%22%3E%3Cscript%3E&email=x', '/verified', '/mailbox'])(
    'runs nothing but the files of the server, and tells no other where it is: %s',
    async (path) => {
      const response = await fetch(visit.url + path);
      const [policy, text] = [response.headers.get('content-security-policy')!, await response.text()];
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).toContain("frame-ancestors 'none'");
      expect(policy).not.toMatch(/unsafe|\*|data:|https?:/);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'referrer-policy': 'no-referrer',
        'x-content-type-options': 'nosniff',
        'cache-control': 'no-store',
      });
      expect(text).not.toMatch(/<script>|&quot;|<style| style=| on\w+=/);
      const addresses = [...text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, address]) => address!);
      expect(addresses.filter((address) => new URL(address, visit.url).origin !== visit.url)).toEqual([]);
    },
  );

  it('is made of the files of the page and no others', async () => {
    const status = (path: string) => visit.sample.status(path);
    expect(await status('/web/main.js')).toBe(200);
    for (const path of [
      '/web/',
      '/web/nothing.js',
      '/web/../web.controller.js',
      '/web/%2e%2e/page-config.js',
      '/web/index.html',
    ])
      expect(await status(path)).toBe(404);
  });

  it('has broken no rule of the page', () => expect(visit.complaints).toEqual([]));
});
