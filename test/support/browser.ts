import { spawnSync } from 'node:child_process';
import { type Browser, type CDPSession, type Page, chromium } from 'playwright-core';

const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

/** The Chromium binary: the value of `CHROMIUM`, or the first match on the `PATH`. */
const executable = process.env.CHROMIUM || NAMES.map(pathOf).find(Boolean);

/** A suite that needs a real browser. Without one, Jest reports the suite as skipped. */
export const describeWithBrowser = executable ? describe : describe.skip;

function pathOf(name: string): string {
  return spawnSync('which', [name], { encoding: 'utf8' }).stdout?.trim() ?? '';
}

/** Without the sandbox: it needs privileges that a container lacks, and the browser opens only our own pages. */
export const openBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: executable, args: ['--no-sandbox'] });

/** A virtual authenticator of a page (WebAuthn Level 3 §11), driven over the DevTools protocol. */
export class VirtualAuthenticator {
  private constructor(
    private readonly devTools: CDPSession,
    private readonly authenticatorId: string,
  ) {}

  static async of(page: Page): Promise<VirtualAuthenticator> {
    const devTools = await page.context().newCDPSession(page);
    await devTools.send('WebAuthn.enable');
    const { authenticatorId } = await devTools.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: false,
      },
    });
    return new VirtualAuthenticator(devTools, authenticatorId);
  }

  /** Confirms every prompt that the authenticator opens during `work`, but no prompt that is already open. */
  async touch(work: () => Promise<unknown>): Promise<void> {
    const simulate = (enabled: boolean) =>
      this.devTools.send('WebAuthn.setAutomaticPresenceSimulation', { authenticatorId: this.authenticatorId, enabled });
    await simulate(true);
    await work();
    await simulate(false);
  }

  /** Fails user verification in the prompts of `work`. A page cannot distinguish this from a cancelled prompt. */
  async refuse(work: () => Promise<unknown>): Promise<void> {
    const verify = (isUserVerified: boolean) =>
      this.devTools.send('WebAuthn.setUserVerified', { authenticatorId: this.authenticatorId, isUserVerified });
    await verify(false);
    await this.touch(work);
    await verify(true);
  }

  /** The passkeys that the authenticator holds. */
  async held(): Promise<{ rpId?: string; userHandle?: string; signCount: number }[]> {
    const { authenticatorId } = this;
    return (await this.devTools.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
  }
}
