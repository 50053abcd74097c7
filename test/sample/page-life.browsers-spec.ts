import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Response } from 'playwright-core';
import { findingsIn } from '../support/clients/accessibility';
import { describeWithBrowser } from '../support/clients/browser';
import { ROOT } from '../support/packages/package';
import { SampleVisit, Tab } from '../support/sample/sample-page';

const IN_TIME = 'Replay the old token';
/** How the time is filled in which the access token would have been valid. */
const LOST = 'getComputedStyle(document.querySelector(".life .lost")).fill';
const TOO_LATE = 'Replay it and end the session';

describeWithBrowser('the page of the sample', () => {
  const visit = SampleVisit.forFile();

  const isOffered = async (tab: Tab, name: string) => (await tab.button(name).count()) === 1;
  const demo = async (tab: Tab) => {
    await tab.presses('Use the demo account');
    await tab.sees('Overview');
  };

  describe('at the first visit', () => {
    visit.forTests();
    let tab: Tab;
    let loaded: { url: string; status: number; bytes: number }[];
    const lines: string[] = [];

    beforeAll(async () => {
      tab = new Tab(await (await visit.person()).newPage());
      tab.page.on('console', (message) => lines.push(message.text()));
      loaded = [];
      const bodies: Promise<unknown>[] = [];
      const measure = (response: Response): void => {
        const [url, status] = [response.url(), response.status()];
        bodies.push(response.body().then(({ length: bytes }) => loaded.push({ url, status, bytes })));
      };
      tab.page.on('response', measure);
      await tab.page.goto(visit.url);
      await tab.sees('Sign in');
      await tab.page.waitForLoadState('networkidle');
      await Promise.all(bodies);
      // A later response can end as the page is closed, and would fail every test.
      tab.page.off('response', measure);
    });

    it('names the library, and says what to try', async () => {
      expect(await tab.page.title()).toBe('Sign in · @svc/auth');
      await tab.page.getByRole('banner').getByRole('link', { name: '@svc/auth' }).waitFor();
      const trials = await tab.page.locator('aside .trials li').allInnerTexts();
      expect(trials).toHaveLength(5);
      expect(trials.join('\n')).toMatch(
        /demo account[^]*Replay an old[^]*second tab[^]*End a session[^]*may only read/,
      );
    });

    it('says what the library is good for, and leads to its first page and its source', async () => {
      await tab.page.getByText('Rotating, revocable sessions that fail closed').waitFor();
      const { homepage } = JSON.parse(readFileSync(join(ROOT, 'libs/auth/package.json'), 'utf8')) as {
        homepage: string;
      };
      const source = homepage.replace('#readme', '');
      const first = 'docs/quick-start.md';
      expect(existsSync(join(ROOT, first))).toBe(true);
      for (const place of ['complementary', 'contentinfo'] as const) {
        const to = (name: string) => tab.page.getByRole(place).getByRole('link', { name }).getAttribute('href');
        expect([await to('Source'), await to('Quick start')]).toEqual([source, `${source}/blob/main/${first}`]);
      }
    });

    it('has the demo account as its first choice, also for the keyboard', async () => {
      const buttons = await tab.page.locator('main').getByRole('button').allInnerTexts();
      expect(buttons[0]).toBe('Use the demo account');
      await tab.page.evaluate('document.body.focus()');
      for (const _ of ['the skip link', 'the brand', 'the demo account']) await tab.page.keyboard.press('Tab');
      await tab.hasFocus(tab.button('Use the demo account'));
    });

    it('is small, complete, and loads nothing twice, from elsewhere, or that only other views need', () => {
      expect(loaded.filter(({ status, url }) => status !== 200 || !url.startsWith(visit.url))).toEqual([]);
      const assets = loaded.filter(({ url }) => !url.includes('/auth/'));
      // The browser also loads the icon for itself.
      const paths = assets.map(({ url }) => new URL(url).pathname).filter((path) => path !== '/web/icon.svg');
      expect(paths.filter((path, i) => paths.indexOf(path) < i)).toEqual([]);
      expect(assets.filter(({ url }) => /qr|session\.css/.test(url))).toEqual([]);
      // Without compression, which the sample leaves to a proxy.
      expect(assets.reduce((sum, { bytes }) => sum + bytes, 0)).toBeLessThan(122_000);
    });

    it('has code that a button copies', async () => {
      await tab.presses('Copy app.module.ts');
      await tab.hears('Copied.');
      const copied = await tab.page.evaluate<string>('navigator.clipboard.readText()');
      expect(copied).toMatch(/^AuthModule\.forRoot\(\{\n  \.\.\.authOptionsFromEnv\(\),\n[^<]*\n\}\)$/);
    });

    it('has the data that search engines and screen readers need, and logs nothing', async () => {
      const { lang, description, viewport } = await tab.page.evaluate<Record<string, string>>(`({
        lang: document.documentElement.lang,
        description: document.querySelector('meta[name=description]').content,
        viewport: document.querySelector('meta[name=viewport]').content,
      })`);
      expect([lang, viewport]).toEqual(['en', 'width=device-width, initial-scale=1']);
      expect(description!.length).toBeGreaterThan(50);
      expect(lines).toEqual([]);
    });
  });

  describe('draws the life of the session', () => {
    visit.forTests({ SVC_GRACE: '600' });
    let tab: Tab;

    beforeAll(async () => {
      tab = await visit.tab();
      await tab.page.emulateMedia({ reducedMotion: 'reduce' });
    });

    it('from its start', async () => {
      await demo(tab);
      expect(await tab.lived()).toEqual(['Signed in']);
      const events = tab.life().getByRole('listitem');
      await events.first().getByText('By password.').waitFor();
      expect(await events.first().locator('time').getAttribute('datetime')).toMatch(/^20\d\d-.*Z$/);
      // The drawing says nothing that the list does not say.
      expect(await tab.page.locator('svg.life').getAttribute('aria-hidden')).toBe('true');
    });

    it('and offers no replay before there is an old token', async () => {
      expect([await isOffered(tab, IN_TIME), await isOffered(tab, TOO_LATE)]).toEqual([false, false]);
      await tab.page.getByText('Renew once, then replay the old refresh token.').waitFor();
    });

    it('with its renewals, and what each sent and got', async () => {
      await tab.presses('Renew now');
      await tab.lives('Renewed');
      expect([await isOffered(tab, IN_TIME), await isOffered(tab, TOO_LATE)]).toEqual([true, false]);
      // The time that is left is said once, in the drawing.
      expect(await tab.page.getByText(/^(10:00|9:\d\d) left$/).count()).toBe(1);
      expect(await tab.page.locator('svg.life .grace').count()).toBe(1);
      expect(await tab.life().locator('code').allInnerTexts()).toEqual([
        'POST /auth/login → 200',
        'POST /auth/refresh → 200',
      ]);
      // The session and its refresh tokens end together: after 12 hours, because the visitor does not stay signed in.
      expect(await tab.page.locator('svg.life .value').allTextContents()).toEqual([
        '12 hours left',
        expect.stringMatching(/^1[45]:\d\d left$/),
        '12 hours left',
        expect.stringMatching(/^(10:00|9:\d\d) left$/),
      ]);
    });

    it('with a replay in the grace time, which changes nothing', async () => {
      const { jti } = await tab.payload();
      await tab.presses(IN_TIME);
      await tab.lives('Replayed in time');
      await tab.life().getByText('It got the current refresh token again, and nothing else changed.').waitFor();
      expect((await tab.payload()).jti).toBe(jti);
      expect(await tab.lived()).toEqual(['Signed in', 'Renewed', 'Replayed in time']);
      await tab.presses('Renew now');
      await tab.page.locator('.events li:nth-child(4)').waitFor();
      await tab.goes('Sessions');
      await tab.page.getByText('This session').waitFor();
      await tab.goes('Overview');
    });

    it('with a renewal in another tab', async () => {
      const other = await visit.tab(tab.page.context());
      await other.sees('Overview');
      expect(await other.lived()).toEqual(['Signed in', 'Renewed']);
      await other.life().getByText('The page was opened again').waitFor();
      await tab.life().getByText('In another tab').waitFor();
      // The other tab replaced the token with which it took up the session.
      expect(await isOffered(other, IN_TIME)).toBe(true);
      await other.page.close();
      await tab.comesToFront();
    });

    it('until its end, and begins anew with the next one', async () => {
      await tab.signsOut();
      await tab.lives('Ended');
      await tab.life().getByText('You signed out.').waitFor();
      // What the user has not tried is still there, and what the user wanted is not shown as an alarm, or twice.
      const trials = tab.page.locator('aside .trials');
      expect(await trials.getByRole('listitem').count()).toBe(3);
      expect(await tab.page.locator('aside ul.trials').count()).toBe(1);
      expect(await tab.page.evaluate(LOST)).toBe('none');
      expect(await tab.page.locator('.toast').allInnerTexts()).toEqual(['', '']);
      expect(await findingsIn(tab.page)).toEqual([]);
      await demo(tab);
      expect(await tab.lived()).toEqual(['Signed in']);
    });
  });

  describe.each([
    ['a wide screen', 1280],
    ['a phone', 360],
  ])('draws what happens quickly, on %s', (_, width) => {
    visit.forTests({ SVC_GRACE: '600' });

    type Boxes = Record<'left' | 'right' | 'top' | 'bottom', number>[];

    /** The edges of what selectors find in the drawing. In one step: the clock replaces the drawing. */
    const boxesOf = <Name extends string>(tab: Tab, selectors: Record<Name, string>) =>
      tab.page.evaluate<Record<Name, Boxes>>(
        `Object.fromEntries(Object.entries(${JSON.stringify(selectors)}).map(([name, selector]) => [
          name,
          [...document.querySelectorAll('svg.life ' + selector)].map((element) => {
            const { left, right, top, bottom } = element.getBoundingClientRect();
            return { left, right, top, bottom };
          }),
        ]))`,
      );

    it('to scale, with one mark for what has no place beside another, and no line through a text', async () => {
      const person = await visit.person({ viewport: { width, height: 800 } });
      await person.clock.install();
      const tab = await visit.tab(person);
      await demo(tab);
      const renews = async (renewals: number) => {
        await tab.presses('Renew now');
        // What happens again is in one item.
        if (renewals > 1) await tab.life().getByText(`× ${renewals}`).waitFor();
        else await tab.lives('Renewed');
        await tab.page.locator('button.primary:not([aria-busy])').waitFor();
      };
      for (const renewals of [1, 2, 3]) {
        await person.clock.fastForward(30_000);
        await renews(renewals);
      }
      await tab.presses(IN_TIME);
      await tab.lives('Replayed in time');
      expect(await tab.lived()).toEqual(['Signed in', 'Renewed', 'Replayed in time']);
      const drawn = async () => ({
        ...(await boxesOf(tab, {
          marks: '.mark path',
          now: '.now',
          texts: 'text',
          tokens: ':is(.past, .token)[height="16"]',
          grace: '.grace',
          ahead: '.ahead',
        })),
        numbers: await tab.page.locator('svg.life .number').allTextContents(),
        edge: (await tab.page.locator('.picture').boundingBox())!.x,
      });
      for (const seconds of [5, 20, 100]) {
        await person.clock.fastForward(seconds * 1000);
        const { marks, now, texts, edge, tokens, numbers, grace, ahead } = await drawn();
        // The replay was in the moment of the third renewal.
        expect(marks).toHaveLength(4);
        expect(await tab.page.locator('svg.life .mark.replayed').count()).toBe(1);
        // All lanes have one scale: each token begins below the mark of its event.
        expect(tokens).toHaveLength(4);
        const middles = marks.map(({ left, right }) => (left + right) / 2);
        const { issued, replayed } = await tab.page.evaluate<{ issued: number[]; replayed: number }>(
          `import('/web/life.js').then(({ life }) => ({ issued: life().issued, replayed: life().events.at(-1).at }))`,
        );
        // The last mark is that of the replay, a moment after the renewal.
        const late = ((tokens[3]!.left - tokens[2]!.left) * (replayed - issued[3]!)) / (issued[3]! - issued[2]!);
        const begins = tokens.map(({ left }, i) => (i === 3 ? left + late : left));
        for (const [i, begin] of begins.entries()) expect(Math.abs(begin - middles[i]!)).toBeLessThan(3);
        // A second is equally long everywhere.
        const perSecond = [1, 2, 3].map(
          (i) => (1000 * (tokens[i]!.left - tokens[i - 1]!.left)) / (issued[i]! - issued[i - 1]!),
        );
        expect(Math.max(...perSecond) - Math.min(...perSecond)).toBeLessThan(0.05);
        // The last token that was replaced has a grace time, which begins with its replacement.
        expect(numbers.slice(0, 3)).toEqual(['1', '2', '3']);
        expect(grace).toHaveLength(1);
        expect(Math.abs(grace[0]!.left - tokens[3]!.left)).toBeLessThan(2);
        // The session, its access token and its refresh token are still to come, and have no end in the drawing.
        expect(ahead).toHaveLength(3);
        expect(await tab.page.locator('svg.life .ahead[mask]').count()).toBe(3);
        expect(middles[0]).toBeGreaterThan(edge + 4);
        expect(middles.at(-1)).toBeLessThan((now[0]!.left + now[0]!.right) / 2 + 1);
        // Firefox adds the border of a shape to the box of a text, whose letters are within six pixels of its middle.
        const crossed = texts.filter(({ left, right, top, bottom }) => {
          const middle = (top + bottom) / 2;
          return now.some(
            (line) => line.left > left && line.left < right && line.top < middle + 6 && line.bottom > middle - 6,
          );
        });
        expect(crossed).toEqual([]);
      }
      await tab.page
        .locator('svg.life')
        .getByText(/^1[0-4]:\d\d left$/)
        .waitFor();
      // Where marks have no place, each renewal is a line. Narrow tokens share a number, which a wide one does not join.
      for (let renewals = 1; renewals <= 9; renewals++) {
        await person.clock.fastForward(renewals > 3 ? 6000 : 3000);
        await tab.presses('Renew now');
        const last = tab.page.locator('.events li:last-child');
        await last.getByText(renewals > 1 ? `× ${renewals}` : 'Renewed').waitFor();
        await tab.page.locator('button.primary:not([aria-busy])').waitFor();
        if (renewals !== 3) continue;
        // The renewal before the replay is one, too, if the replay was not in its moment.
        const { ticks, replays } = await boxesOf(tab, { ticks: '.tick', replays: '.replayed path' });
        expect(ticks.filter(({ left }) => left > replays[0]!.right)).toHaveLength(2);
        expect((await drawn()).numbers).toContain('4');
      }
      expect((await drawn()).numbers).toEqual(expect.arrayContaining(['4', '5–12']));
    });

    it('with a number in the first token at once', async () => {
      const person = await visit.person({ viewport: { width, height: 800 } });
      await person.clock.install();
      const tab = await visit.tab(person);
      await demo(tab);
      expect(await tab.page.locator('svg.life .number').allTextContents()).toEqual(['1']);
    });

    it('in a drawing of 20 seconds at first', async () => {
      const person = await visit.person({ viewport: { width, height: 800 } });
      await person.clock.install();
      const tab = await visit.tab(person);
      await demo(tab);
      await person.clock.fastForward(10_000);
      const { sessions, lanes } = await boxesOf(tab, { sessions: '.session', lanes: '.track' });
      const [session, lane] = [sessions[0]!, lanes[0]!];
      expect((session.right - session.left) / (lane.right - lane.left)).toBeGreaterThan(0.4);
    });
  });

  describe('lets the visitor be the thief', () => {
    visit.forTests({ SVC_GRACE: '0' });

    it('whose old refresh token ends the session in all tabs, and its access token immediately', async () => {
      const tab = await visit.tab();
      await tab.page.emulateMedia({ reducedMotion: 'reduce' });
      await demo(tab);
      const other = await visit.tab(tab.page.context());
      await other.sees('Overview');
      await tab.comesToFront();
      await tab.lives('Renewed');
      // The storage of this tab may be later than the message of the other one.
      await tab.button(TOO_LATE).waitFor();
      await tab.presses(TOO_LATE);
      await tab.sees('Sign in');
      const theft = ['Replayed too late: session ended', 'Access token refused', 'Current refresh token refused'];
      // The theft is one picture. What was before it is one click away.
      expect(await tab.lived()).toEqual([...theft, '', '']);
      await tab.life().getByText('Before that').click();
      expect(await tab.lived()).toEqual([...theft, 'Signed in', 'Renewed']);
      await tab
        .life()
        .getByText(/^It had 1[45] minutes left\.$/)
        .waitFor();
      expect((await tab.life().locator('code').allInnerTexts()).slice(0, 3)).toEqual([
        'POST /auth/refresh → 401',
        'GET /user → 401',
        'POST /auth/refresh → 401',
      ]);
      // The chain, on the line of the end, and the token that came back: its number is legible there and at its return.
      expect(await tab.page.locator('svg.life .chain').textContent()).toBe('Replay → refused → ended');
      expect((await tab.page.locator('svg.life .past.reused').boundingBox())!.width).toBeGreaterThan(25);
      expect(await tab.page.locator('svg.life .number.stolen').allTextContents()).toEqual(['1', '1']);
      await tab.hears('Your session has ended.');
      // Above the life of the session, and not in a message that covers it.
      await tab.page.locator('aside .verdict').getByText('came back after its grace time').waitFor();
      expect(await tab.page.locator('.toast').allInnerTexts()).toEqual(['', '']);
      expect(await tab.page.evaluate(LOST)).not.toBe('none');
      expect(await findingsIn(tab.page)).toEqual([]);
      await other.sees('Sign in');
      // The token of the device stays: it is no credential.
      expect(await tab.page.evaluate('Object.keys(localStorage)')).toEqual(['svc-auth:/auth:device']);
      await demo(tab);
      await tab.goes('History');
      // The theft is marked, and its session does not end in a second row.
      const stopped = tab.page.locator('.orders li.bad');
      await stopped.getByText('Stolen token stopped').waitFor();
      await stopped.getByText('An old refresh token came back').waitFor();
      expect(await stopped.locator('time').first().innerText()).toMatch(/\d:\d\d:\d\d/);
      expect(await tab.page.locator('.orders').getByText('An old refresh token came back').count()).toBe(1);
    });
  });

  describe('offers what the time allows', () => {
    visit.forTests({ SVC_GRACE: '300' });

    it('and shows the answer of the server, not what it expects', async () => {
      const person = await visit.person();
      await person.clock.install();
      const tab = await visit.tab(person);
      await demo(tab);
      await tab.presses('Renew now');
      await tab.lives('Renewed');
      expect([await isOffered(tab, IN_TIME), await isOffered(tab, TOO_LATE)]).toEqual([true, false]);
      await person.clock.fastForward(301_000);
      await tab.page.getByText('The old refresh token is no longer accepted.').waitFor();
      expect([await isOffered(tab, IN_TIME), await isOffered(tab, TOO_LATE)]).toEqual([false, true]);
      // Only the clock of the browser is late. For the server, this is the grace time.
      await tab.presses(TOO_LATE);
      await tab.page
        .locator('.events li:last-child')
        .getByText(/^Replayed/)
        .waitFor();
      expect((await tab.lived()).at(-1)).toBe('Replayed in time');
    });
  });

  describe('in cookie mode', () => {
    visit.forTests({ SVC_COOKIE_MODE: 'true' });

    it('offers no replay of a token that no script can read, and says why', async () => {
      const tab = await visit.tab();
      expect(await tab.page.locator('aside .trials li').count()).toBe(4);
      await demo(tab);
      await tab.presses('Renew now');
      await tab.lives('Renewed');
      expect(await tab.page.getByRole('button', { name: /^Replay/ }).count()).toBe(0);
      await tab.page.getByText('in a cookie that no script can read, so this page cannot replay an old one').waitFor();
    });
  });

  describe('has orders', () => {
    visit.forTests();
    let tab: Tab;
    const rows = () => tab.page.getByRole('group', { name: 'Your orders' }).getByRole('listitem');
    const refused = (text: string) => tab.page.locator('.answer').getByText(text).waitFor();

    beforeAll(async () => {
      tab = await visit.tab();
      await demo(tab);
      await tab.goes('Orders');
    });

    it('that the token may place, and cancel after a confirmation', async () => {
      await tab.page.getByText('Nothing ordered yet.').waitFor();
      await tab.presses('Order tea');
      await tab.hears('Ordered: tea.');
      await tab.presses('Order cake');
      await tab.hears('Ordered: cake.');
      expect(await rows().locator('strong').allInnerTexts()).toEqual(['cake', 'tea']);
      await tab.presses('Cancel order: tea');
      // It names what it asks for, and the account, and waits for the password.
      await tab.hasFocus(tab.dialog().getByLabel('Password', { exact: true }));
      expect(await tab.dialog().locator('dd').allInnerTexts()).toEqual(['Cancel order: tea', 'demo@example.com']);
      await tab.confirms();
      await tab.hears('The order is cancelled.');
      expect(await rows().locator('strong').allInnerTexts()).toEqual(['cake']);
    });

    it('that are refused without a token, and with the token of another guard', async () => {
      await tab.presses('Try without a token');
      await refused('Authentication is required.');
      await tab.presses('Try with your own token');
      await tab.page.getByText('401 Unauthorized').nth(1).waitFor();
      await tab.page.getByText('administrators have their own accounts').waitFor();
    });

    it('that a token refuses which may only read, until its session is ended', async () => {
      await tab.presses('Try as a read-only device');
      await refused('This needs the ability orders.write.');
      await tab.page.getByText('never gets another scope than orders.read').waitFor();
      await tab.goes('Sessions');
      await tab.presses('Sign out of Read-only device');
      await tab.hears('Session signed out.');
      await tab.goes('Orders');
      await tab.presses('Try as a read-only device');
      await refused('Authentication is required.');
      await tab.page.getByText('The session of this device has ended').waitFor();
      await tab.presses('Try as a read-only device');
      await refused('This needs the ability orders.write.');
      expect(await rows().locator('strong').allInnerTexts()).toEqual(['cake']);
    });

    it('that cannot be sent without a network, and the page says it as everywhere', async () => {
      const person = tab.page.context();
      await person.setOffline(true);
      const shown = () => tab.page.locator('main [role=alert]').innerText();
      await tab.goes('Sessions');
      const sentence = await shown();
      expect(sentence).toBe('The server cannot be reached. Try again later.');
      await tab.goes('Orders');
      expect(await shown()).toBe(sentence);
      await person.setOffline(false);
      await tab.presses('Try again');
      await tab.button('Try without a token').waitFor();
      await person.setOffline(true);
      await tab.presses('Try without a token');
      await tab.page.locator('#alert').getByText(sentence).waitFor();
      await person.setOffline(false);
      visit.complaints.splice(0);
    });

    it('and proposes only what the user has not done', async () => {
      const proposals = async () => {
        await tab.goes('Overview');
        return tab.page.locator('.trials a').allInnerTexts();
      };
      expect(await proposals()).toContain('Add a second factor.');
      await visit.sql('UPDATE users SET two_factor_confirmed_at = now()');
      await tab.goes('Orders');
      expect(await proposals()).not.toContain('Add a second factor.');
    });

    it('and causes no violation of the policy of the page', () => expect(visit.complaints).toEqual([]));
  });
});
