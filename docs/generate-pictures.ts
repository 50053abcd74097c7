import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, type Page, chromium } from 'playwright-core';
import { startApplication } from '../apps/sample/src/application';
import { freePort } from '../apps/sample/src/dev/embedded-postgres';
import { readEnvironment } from '../apps/sample/src/environment';

const IMAGES = join(__dirname, 'images');

/** By their names. The pictures have more pixels than their size on the page, for screens with small pixels. */
const SIZES = {
  sample: { viewport: { width: 1000, height: 760 }, deviceScaleFactor: 1.3 },
  'sample-phone': { viewport: { width: 390, height: 800 }, deviceScaleFactor: 2, hasTouch: true, isMobile: true },
};

/** What happens to the session, with the seconds after it. The time of the browser moves, that of the server does not. */
const LIFE: readonly [button: string, then: string, seconds: number][] = [
  ['Use the demo account', 'Signed in', 14],
  ['Renew now', 'Renewed', 7],
  ['Replay the old token', 'Replayed in time', 12],
  ['Renew now', 'Renewed', 9],
];

/** Shows the page of the sample as a visitor who has tried a few things sees it. */
async function demonstrate(page: Page, url: string): Promise<void> {
  await page.clock.install();
  await page.goto(url);
  for (const [i, [button, then, seconds]] of LIFE.entries()) {
    await page.getByRole('button', { name: button }).click();
    await page.getByRole('log').getByRole('listitem').nth(i).waitFor();
    await page.getByRole('log').getByRole('listitem').last().getByText(then).waitFor();
    await page.clock.fastForward(seconds * 1000);
  }
  // No button looks as if it was pressed.
  await page.mouse.move(0, 0);
  await page.evaluate('document.activeElement.blur()');
}

/** Replays the old refresh token when the server takes that for theft. The time of the server does not move, so this waits. */
async function steal(page: Page): Promise<void> {
  await sleep(31_000);
  await page.clock.fastForward(31_000);
  await page.getByRole('button', { name: 'Replay it and end the session' }).click();
  await page.getByRole('heading', { name: 'A stolen token was stopped' }).waitFor();
  await page.clock.fastForward(1000);
  await page.mouse.move(0, 0);
}

async function take(
  browser: Browser,
  url: string,
  name: keyof typeof SIZES,
  colorScheme: 'light' | 'dark',
): Promise<void> {
  const context = await browser.newContext({
    ...SIZES[name],
    colorScheme,
    reducedMotion: 'reduce',
    locale: 'en-GB',
  });
  const page = await context.newPage();
  await demonstrate(page, url);
  await page.screenshot({ path: join(IMAGES, `${name}-${colorScheme}.png`) });
  if (name === 'sample' && colorScheme === 'light') {
    await steal(page);
    await page.screenshot({ path: join(IMAGES, 'sample-stolen.png') });
  }
  await context.close();
}

/** Takes a picture of an example mail in the mailbox: its text, and its HTML in both modes. */
async function takeMail(browser: Browser, url: string): Promise<void> {
  const context = await browser.newContext({ viewport: { width: 1400, height: 900 }, colorScheme: 'light' });
  const page = await context.newPage();
  await page.goto(`${url}/mailbox/examples/en`);
  const mail = page.locator('.mails > li').filter({ hasText: 'newSignIn' });
  await mail.locator('summary').first().click();
  await mail.scrollIntoViewIfNeeded();
  // The frames of a mail are loaded when it is visible.
  for (const i of [0, 1]) await mail.frameLocator('iframe').nth(i).getByRole('heading').waitFor();
  await mail.screenshot({ path: join(IMAGES, 'mail-new-sign-in.png') });
  await context.close();
}

/** Starts the sample without data, and takes its pictures in both modes. */
async function main(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'svc-pictures-'));
  const port = await freePort();
  Object.assign(process.env, {
    NODE_ENV: 'development',
    PORT: String(port),
    DATA_DIR: join(directory, 'data'),
    SVC_SECRET: randomBytes(32).toString('hex'),
    SVC_ENCRYPTION_KEY: randomBytes(32).toString('hex'),
  });
  const stop = await startApplication(readEnvironment(process.env, []), { logger: false });
  const executablePath = process.env.CHROMIUM || spawnSync('which', ['chromium'], { encoding: 'utf8' }).stdout.trim();
  const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  try {
    for (const name of ['sample', 'sample-phone'] as const)
      for (const mode of ['light', 'dark'] as const) await take(browser, `http://localhost:${port}`, name, mode);
    await takeMail(browser, `http://localhost:${port}`);
  } finally {
    await browser.close();
    await stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

void main();
