import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, type BrowserContext, type Locator, type Page, chromium, firefox } from 'playwright-core';
import { freePort } from '../../../apps/sample/src/dev/embedded-postgres';
import { eventually } from '../runtime/eventually';
import { Marionette } from './marionette';

/** Whether the tests of pages run in Firefox instead of Chromium. Set by `TEST_BROWSER`. */
export const inFirefox = process.env.TEST_BROWSER === 'firefox';

const NAMES = inFirefox ? ['firefox-esr', 'firefox'] : ['chromium', 'chromium-browser', 'google-chrome'];

/** The binary: the value of `FIREFOX` or `CHROMIUM`, or the first match on the `PATH`. */
const executable = process.env[inFirefox ? 'FIREFOX' : 'CHROMIUM'] || NAMES.map(pathOf).find(Boolean);

/** A suite that needs a real browser. Without one, Jest reports the suite as skipped. */
export const describeWithBrowser = executable ? describe : describe.skip;

function pathOf(name: string): string {
  return spawnSync('which', [name], { encoding: 'utf8' }).stdout?.trim() ?? '';
}

/** Connects once to the Marionette of a browser, which answers one connection at a time. */
const marionettes = new WeakMap<Browser, () => Promise<Marionette>>();

/** @param preferences of Firefox */
export async function openBrowser(preferences: Record<string, number> = {}): Promise<Browser> {
  // Without the sandbox: it needs privileges that a container lacks, and the browser opens only our own pages.
  if (!inFirefox) return chromium.launch({ executablePath: executable, args: ['--no-sandbox'] });
  const port = await freePort();
  // The channel selects WebDriver BiDi, which an unmodified Firefox supports.
  const browser = await firefox.launch({
    channel: 'moz-firefox',
    executablePath: executable,
    args: ['--marionette'],
    firefoxUserPrefs: {
      'marionette.port': port,
      // Without it, Firefox has no suggestions for the fields of a login, also not for passkeys.
      'signon.rememberSignons': true,
      // Emulated media features have no effect: see `skipMediaFeatures`.
      'ui.prefersReducedMotion': 1,
      // It does not offer to save passwords.
      'signon.formRemovalCapture.enabled': false,
      'signon.formlessCapture.enabled': false,
      'signon.capture.inputChanges.enabled': false,
      'signon.passwordEditCapture.enabled': false,
      'security.webauth.webauthn_enable_softtoken': true,
      'security.webauth.webauthn_enable_usbtoken': false,
      ...preferences,
    },
  });
  skipMediaFeatures(browser);
  let connected: Promise<Marionette> | undefined;
  marionettes.set(browser, () => (connected ??= Marionette.connect(port)));
  return browser;
}

/** A browser whose user blocks all cookies, and with them storage. The end of the context is the end of the browser. */
export async function openWithoutStorage(): Promise<BrowserContext> {
  if (inFirefox) {
    const browser = await openBrowser({ 'network.cookie.cookieBehavior': 2 });
    const context = await browser.newContext();
    context.on('close', () => void browser.close());
    return context;
  }
  const profile = mkdtempSync(join(tmpdir(), 'svc-profile-'));
  mkdirSync(join(profile, 'Default'));
  const preferences = { profile: { default_content_setting_values: { cookies: 2 } } };
  writeFileSync(join(profile, 'Default/Preferences'), JSON.stringify(preferences));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: executable,
    args: ['--no-sandbox'],
  });
  context.setDefaultTimeout(200_000);
  const close = context.close.bind(context);
  context.close = async () => {
    await close();
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  };
  return context;
}

/** What is internal to Playwright: the object behind a browser, whose sessions send the commands. */
interface Internals {
  _connection: { toImpl(browser: Browser): { _browserSession: object } };
}
interface BidiSession {
  send(command: string, parameters: object): Promise<unknown>;
}

/**
 * Playwright sets the media features of each page, and Firefox 153 does not know this command. Without it, every page is
 * light. Delete this when the oldest Firefox that we test knows it.
 */
function skipMediaFeatures(browser: Browser): void {
  const { _browserSession: session } = (browser as unknown as Internals)._connection.toImpl(browser);
  const prototype = Object.getPrototypeOf(session) as BidiSession & { isPatched?: true };
  if (prototype.isPatched) return;
  const { send } = prototype;
  prototype.isPatched = true;
  prototype.send = function (this: BidiSession, command, parameters) {
    return command === 'emulation.setMediaFeaturesOverride'
      ? Promise.resolve({})
      : send.call(this, command, parameters);
  };
}

/**
 * Chooses the passkey in the suggestions of a field with `autocomplete="webauthn"`, until the field is removed. Chromium's
 * authenticator accepts without a choice.
 */
export async function choosePasskey(field: Locator): Promise<void> {
  if (!inFirefox) return;
  const { keyboard } = field.page();
  let downs = 0;
  // The page may not have asked for a passkey yet. A key opens the suggestions if the focus has not.
  await eventually(async () => {
    await field.blur({ timeout: 1000 }).catch(() => undefined);
    await field.focus({ timeout: 1000 }).catch(() => undefined);
    await sleep(300);
    for (let i = 0; i <= downs % 2; i++) await keyboard.press('ArrowDown');
    downs++;
    await keyboard.press('Enter');
    return field.waitFor({ state: 'detached', timeout: 1500 }).then(
      () => true,
      () => false,
    );
  });
}

/** A file that a page has saved. */
export interface SavedFile {
  name: string;
  text: string;
}

/** Playwright reports no downloads of Firefox, so the click on the link is replaced. */
const KEEP_FILE = `globalThis.saved = new Promise((resolve) => {
  const create = URL.createObjectURL;
  let blob;
  URL.createObjectURL = (given) => create((blob = given));
  HTMLAnchorElement.prototype.click = function () {
    resolve(blob.text().then((text) => ({ name: this.download, text })));
  };
})`;

/** The file that the page saves during `work`. */
export async function savedDuring(page: Page, work: () => Promise<unknown>): Promise<SavedFile> {
  if (inFirefox) {
    await page.evaluate(`void (${KEEP_FILE})`);
    await work();
    return page.evaluate<SavedFile>('saved');
  }
  const [file] = await Promise.all([page.waitForEvent('download', { timeout: 200_000 }), work()]);
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), 'utf8') };
}

/** Sends a command of WebDriver for WebAuthn, by the name that it has in the protocol of the browser. */
type Send = <T>(command: string, parameters: object) => Promise<T>;

const OPTIONS = {
  protocol: 'ctap2',
  transport: 'internal',
  hasResidentKey: true,
  hasUserVerification: true,
  isUserVerified: true,
};

/** A virtual authenticator of a page, or of all pages in Firefox (WebAuthn Level 3 §11). */
export class VirtualAuthenticator {
  private constructor(
    private readonly send: Send,
    private readonly authenticatorId: string,
  ) {}

  static async of(page: Page): Promise<VirtualAuthenticator> {
    if (inFirefox) {
      const marionette = await marionettes.get(page.context().browser()!)!();
      const send: Send = (command, parameters) => marionette.send(`WebAuthn:${command}`, parameters);
      // In Firefox an authenticator either confirms every prompt at once, or refuses it. Only suggestions wait for the user.
      return new VirtualAuthenticator(
        send,
        await send('AddVirtualAuthenticator', { ...OPTIONS, isUserConsenting: true }),
      );
    }
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('WebAuthn.enable');
    const send = (command: string, parameters: object) =>
      devTools.send(`WebAuthn.${command}` as never, parameters as never);
    const options = { ...OPTIONS, automaticPresenceSimulation: false };
    const { authenticatorId } = (await send('addVirtualAuthenticator', { options })) as { authenticatorId: string };
    return new VirtualAuthenticator(send as Send, authenticatorId);
  }

  /** Confirms every prompt that the authenticator opens during `work`, but no prompt that is already open. */
  async touch(work: () => Promise<unknown>): Promise<void> {
    const simulate = async (enabled: boolean) => {
      const { authenticatorId } = this;
      if (!inFirefox) await this.send('setAutomaticPresenceSimulation', { authenticatorId, enabled });
    };
    await simulate(true);
    await work();
    await simulate(false);
  }

  /** Fails user verification in the prompts of `work`. A page cannot distinguish this from a cancelled prompt. */
  async refuse(work: () => Promise<unknown>): Promise<void> {
    const { authenticatorId } = this;
    const verify = (isUserVerified: boolean) =>
      this.send(inFirefox ? 'SetUserVerified' : 'setUserVerified', { authenticatorId, isUserVerified });
    await verify(false);
    await this.touch(work);
    await verify(true);
  }

  /** The passkeys that the authenticator holds. */
  async held(): Promise<{ rpId?: string; userHandle?: string; signCount: number }[]> {
    const { authenticatorId } = this;
    if (inFirefox) return this.send('GetCredentials', { authenticatorId });
    return (await this.send<{ credentials: [] }>('getCredentials', { authenticatorId })).credentials;
  }

  /** Removes the authenticator, which in Firefox would be there for the next page, too. */
  async remove(): Promise<void> {
    const { authenticatorId } = this;
    await this.send(inFirefox ? 'RemoveVirtualAuthenticator' : 'removeVirtualAuthenticator', { authenticatorId });
  }
}
