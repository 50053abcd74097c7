import { Texts } from '../../foundation/languages/texts';
import { LANGUAGES, type Language } from '../../foundation/platform/language';
import { FEATURES } from '../../features';
import type { MailKind } from '../../foundation/ports/mail';
import { builtInMail as writeMail, deviceOf, shortenedEmail } from './built-in-mail';
import { mailsOf } from './mail-gate';
import { directionOf } from './mail-layout';

const TEXTS = new Texts(FEATURES);
type Written = Parameters<typeof writeMail> extends [unknown, infer Data, infer Own, unknown] ? [Data, Own] : never;
const builtInMail = (kind: MailKind, ...[data, adjustments]: Written) => writeMail(kind, data, adjustments, TEXTS);

const NONE = { texts: {}, accentColor: '#2f45cf' };
const URL = 'https://app.example.com/x?token=a&email=b%40c.d';
const USER_AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:146.0) Gecko/20100101 Firefox/146.0';

const DATA = {
  user: {},
  to: 'ada@example.com',
  appName: 'Acme',
};
const LINK = { url: URL, minutes: 60 };
const NOTICE = { time: new Date('2026-11-25T14:03:00Z') };

/** What the data of a kind have in addition, and which of the values the mail must show. */
type Shown = readonly [more: object, values: readonly string[]];

/** A notice with the time alone. */
const PLAIN: Shown = [NOTICE, ['14:03 UTC']];

const KINDS: Readonly<Partial<Record<MailKind, Shown>>> = {
  passwordReset: [LINK, [URL, '60']],
  emailVerification: [LINK, [URL, '60']],
  existingAccount: [{}, []],
  newSignIn: [
    { ...LINK, ...NOTICE, minutes: 1440, ip: '203.0.113.7', userAgent: USER_AGENT },
    [URL, '24', '203.0.113.7', 'Firefox, Linux', '14:03 UTC'],
  ],
  emailChange: [LINK, [URL, '60']],
  emailChanged: [
    { ...NOTICE, url: URL, days: 7, newEmail: 'g…@example.org' },
    [URL, '7', 'g…@example.org', '14:03 UTC'],
  ],
  signInCode: [{ url: URL, minutes: 10, code: '493018' }, [URL, '10', '493018']],
};

const shownBy = (kind: MailKind): Shown => KINDS[kind] ?? PLAIN;
const dataOf = (kind: MailKind, language: Language) => ({ ...DATA, ...shownBy(kind)[0], language });

/** The text that a reader of the HTML sees, and copies: a span is no gap. */
const visible = (html: string): string =>
  html
    .replace(/<style>.*?<\/style>|<title>.*?<\/title>/gs, '')
    .replaceAll(/<\/?span[^>]*>/g, '')
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll('&amp;', '&')
    .replaceAll('&#39;', "'");

const unescaped = (html: string): string => html.replaceAll('&amp;', '&').replaceAll('&#39;', "'");

/** The first element of the body. */
const PREHEADER = /<body [^>]*>\n<div dir="ltr" class="svc-preheader" style="([^"]*)">([^<]*)<\/div>/;

const cases = [...mailsOf(FEATURES).keys()].flatMap((kind) => LANGUAGES.map((language) => [kind, language] as const));

describe.each(cases)('the mail %s in %s', (kind, language) => {
  const { subject, text, html = '' } = builtInMail(kind, dataOf(kind, language), NONE);

  it('has a subject of one line, without a secret', () => {
    expect(subject).toMatch(/^[^\r\n]{10,90}$/u);
    expect(subject).toContain('Acme');
    expect(subject).not.toContain('493018');
  });

  it('has a subject of at most 60 characters, also with the name of a host', () => {
    const { subject: longer } = builtInMail(kind, { ...dataOf(kind, language), appName: 'api.example.com' }, NONE);
    expect([...longer].length).toBeLessThanOrEqual(60);
  });

  it('begins its HTML with a hidden preheader of its language, without a secret', () => {
    const [, style, preheader] = PREHEADER.exec(html)!;
    expect(style).toMatch(/^display:none;/);
    expect(preheader).toMatch(/^.{15,140}$/u);
    expect(preheader).not.toMatch(/493018|https?:|[{}]/);
    expect(unescaped(preheader!)).toContain(TEXTS.in(language).mails[kind].preheader);
    // Beside the subject, it says something else.
    expect(preheader).not.toBe(subject);
    expect(html.match(/svc-preheader"/g)).toHaveLength(1);
  });

  it('has the name once in the text and once in the HTML, where it is escaped, and not in the subject', () => {
    const named = builtInMail(kind, { ...dataOf(kind, language), name: "Ada <b>O'Neil</b>" }, NONE);
    const [first, greeting] = named.text.split('\n\n');
    expect(greeting).toContain("Ada <b>O'Neil</b>");
    expect(named.text.replace(`${greeting}\n\n`, '')).toBe(text);
    expect(first).toBe(text.split('\n')[0]);
    expect(named.html!.split('Ada &lt;b&gt;O&#39;Neil&lt;/b&gt;')).toHaveLength(2);
    expect(named.html).not.toMatch(/<b>|O'Neil/);
    expect(named.subject).toBe(subject);
  });

  it('shows every value in the text and in the HTML, and no placeholder', () => {
    for (const content of [text, visible(html)]) {
      for (const value of ['Acme', 'ada@example.com', ...shownBy(kind)[1]]) expect(content).toContain(value);
      expect(content).not.toMatch(/[{}]|undefined|null|NaN/);
    }
  });

  it('has the same paragraphs in both', () => {
    const shown = visible(html).replaceAll(/\s+/g, ' ');
    const paragraphs = text.split(/\n+/).filter((line) => line && line !== '-- ' && !/[:：]/.test(line));
    expect(paragraphs.length).toBeGreaterThan(2);
    for (const paragraph of paragraphs) expect(shown).toContain(paragraph.replaceAll(/\s+/g, ' '));
  });

  it('is a small HTML document in its language, for light and dark mode, that loads nothing', () => {
    expect(html).toMatch(new RegExp(`^<!doctype html>\n<html lang="${language}" dir="ltr">`));
    expect(html).toContain('@media (prefers-color-scheme:dark)');
    expect(html).not.toMatch(/<(img|script|link|iframe|object|form)\b|url\(|@import|src=/i);
    expect(Buffer.byteLength(html)).toBeLessThan(16_000);
    const links = [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => href!.replaceAll('&amp;', '&'));
    expect([...new Set(links)]).toEqual(text.includes('https:') ? [URL] : []);
  });
});

describe('a built-in mail', () => {
  const HOSTILE = `<img src=x onerror=alert(1)>"'&</style>`;

  it('escapes every value in the HTML', () => {
    const { html } = builtInMail(
      'newSignIn',
      { ...dataOf('newSignIn', 'en'), appName: HOSTILE, to: HOSTILE, url: `https://x.test/${HOSTILE}` },
      NONE,
    );
    const { html: changed } = builtInMail(
      'emailChanged',
      { ...dataOf('emailChanged', 'en'), newEmail: HOSTILE, code: HOSTILE },
      NONE,
    );
    for (const content of [html!, changed!]) {
      expect(content).toContain('&lt;img src=x onerror=alert(1)&gt;&quot;&#39;&amp;&lt;/style&gt;');
      expect(content).not.toMatch(/<img|<\/style>.*<\/style>/s);
    }
  });

  it('shows nothing that the client wrote into its user agent, and no address that is none', () => {
    const evil = 'Your account is blocked, visit https://evil.test/ Firefox/1 Windows';
    const data = { ...dataOf('newSignIn', 'en'), userAgent: evil, ip: 'evil.test' };
    const { text, html } = builtInMail('newSignIn', data, NONE);
    for (const content of [text, html]) expect(content).not.toContain('evil.test');
    expect(text).toContain('Device: Firefox, Windows\nIP address: unknown');
  });

  it('states an unknown device and an unknown address', () => {
    const { text } = builtInMail('newSignIn', { ...dataOf('newSignIn', 'de'), userAgent: null, ip: null }, NONE);
    expect(text).toContain('Gerät: unbekannt\nIP-Adresse: unbekannt');
  });

  it('has no line break in its subject, for any name of the application', () => {
    const { subject } = builtInMail(
      'passwordReset',
      { ...dataOf('passwordReset', 'en'), appName: 'A\r\nBcc: x' },
      NONE,
    );
    expect(subject).toBe('Reset your A Bcc: x password');
  });

  it('does not replace a placeholder that a value contains', () => {
    const { subject } = builtInMail('passwordReset', { ...dataOf('passwordReset', 'en'), appName: '{to}' }, NONE);
    expect(subject).toBe('Reset your {to} password');
  });

  it('has a code without a link, where there is none', () => {
    const { text, html } = builtInMail('signInCode', { ...dataOf('signInCode', 'en'), url: null }, NONE);
    expect(text).toContain('\n\n493018\n\nThe code is valid for 10 minutes.');
    expect(html).not.toContain('href');
  });

  it.each(LANGUAGES)(
    'about a changed address has no link, no validity and another text where there is no link, in %s',
    (language) => {
      const data = dataOf('emailChanged', language);
      const { text, html } = builtInMail('emailChanged', { ...data, url: null }, NONE);
      const { emailChanged, shared } = TEXTS.in(language).mails;
      const [first, second] = emailChanged.bodyWithoutLink!.replace('{appName}', 'Acme').split('\n\n');
      for (const content of [text, visible(html!)]) {
        for (const shown of [first, second, 'g…@example.org', '14:03 UTC']) expect(content).toContain(shown);
        expect(content).not.toMatch(/https?:|7|null/);
        expect(content).not.toContain(shared.linkAddress);
        expect(content).not.toContain(emailChanged.body.split('\n\n')[1]);
      }
    },
  );

  it.each([
    [1, 'The link is valid for 1 minute.'],
    [60, 'The link is valid for 60 minutes.'],
    [90, 'The link is valid for 90 minutes.'],
    [120, 'The link is valid for 2 hours.'],
    [1440, 'The link is valid for 24 hours.'],
    [10_080, 'The link is valid for 7 days.'],
    [2.5, 'The link is valid for 2.5 minutes.'],
  ])('that is valid for %d minutes says: %s', (minutes, expected) => {
    expect(builtInMail('passwordReset', { ...dataOf('passwordReset', 'en'), minutes }, NONE).text).toContain(expected);
  });

  it.each([
    [1, 'The link is valid for 24 hours.'],
    [7, 'The link is valid for 7 days.'],
    [30, 'The link is valid for 30 days.'],
  ])('whose link is valid for %d days says: %s', (days, expected) => {
    expect(builtInMail('emailChanged', { ...dataOf('emailChanged', 'en'), days }, NONE).text).toContain(expected);
  });

  it('has the texts of the host, in their language only', () => {
    const texts = { de: { passwordReset: { subject: 'Hallo {appName}' }, shared: { footer: 'Ihr Team' } } };
    const german = builtInMail('passwordReset', dataOf('passwordReset', 'de'), { ...NONE, texts });
    expect(german.subject).toBe('Hallo Acme');
    expect(german.text).toMatch(/Passwort zurücksetzen[^]*Ihr Team\n$/);
    const english = builtInMail('passwordReset', dataOf('passwordReset', 'en'), { ...NONE, texts });
    expect(english.subject).toBe('Reset your Acme password');
  });

  it('has the logo in place of the name of the application, which is its alternative text, and loads nothing else', () => {
    const logo = 'https://cdn.example.com/logo.png?v=2&size=2';
    const { html, text } = builtInMail('passwordReset', { ...dataOf('passwordReset', 'en'), appName: 'A"c&me' }, NONE);
    const pictured = builtInMail(
      'passwordReset',
      { ...dataOf('passwordReset', 'en'), appName: 'A"c&me' },
      { ...NONE, logo },
    );
    const picture = /<img src="([^"]*)" alt="([^"]*)" height="40" class="svc-logo" [^>]*>/.exec(pictured.html!)!;
    expect(picture.slice(1)).toEqual([logo.replace('&', '&amp;'), 'A&quot;c&amp;me']);
    expect(pictured.html!.replace(picture[0], 'A&quot;c&amp;me')).toBe(html);
    expect(pictured.text).toBe(text);
  });

  it('says in its preheader what is to do, and how long the link is valid', () => {
    const preheaderOf = (kind: MailKind, more: object = {}) =>
      PREHEADER.exec(builtInMail(kind, { ...dataOf(kind, 'en'), ...more }, NONE).html!)![2];
    expect(preheaderOf('passwordReset')).toBe(
      'Choose a new password with the link in this mail. The link is valid for 60 minutes.',
    );
    expect(preheaderOf('signInCode')).toBe(
      'Enter the code in this mail where you sign in. The code is valid for 10 minutes.',
    );
    expect(preheaderOf('passkeyAdded')).toBe('Was this not you? Reset your password and contact support.');
    expect(preheaderOf('emailChanged', { url: null })).toBe('If this was not you, please contact support.');
  });

  it('greets in each language, and isolates a name of the other direction', () => {
    const greetings = LANGUAGES.map((language) => {
      const { text } = builtInMail('passkeyAdded', { ...dataOf('passkeyAdded', language), name: 'Ada' }, NONE);
      return text.split('\n\n')[1];
    });
    expect(greetings).toEqual(['Hello Ada,', 'Guten Tag Ada,', 'Bonjour Ada,', 'Hola, Ada:', 'Olá, Ada!', 'Ada 様']);
    const { text } = builtInMail('passkeyAdded', { ...dataOf('passkeyAdded', 'en'), name: 'עדה {appName}' }, NONE);
    expect(text).toContain('\n\nHello \u2068עדה {appName}\u2069,\n\n');
  });

  it.each([
    ['#000000', '#ffffff'],
    ['#2f45cf', '#ffffff'],
    ['#ffd500', '#000000'],
    ['#FFFFFF', '#000000'],
  ])('with the color %s has legible buttons: text in %s', (accentColor, color) => {
    const { html } = builtInMail('passwordReset', dataOf('passwordReset', 'en'), { ...NONE, accentColor });
    expect(html).toContain(`;background-color:${accentColor};color:${color}"><span style="color:${color}">`);
    expect(html).toContain(`[data-ogsb] .svc-button{background-color:${accentColor}!important}`);
    expect(html).toContain(`[data-ogsc] .svc-button span{color:${color}!important}`);
  });

  it('has its link as a text below the button, and states both colors of every background in one style', () => {
    const { html } = builtInMail('passwordReset', dataOf('passwordReset', 'en'), NONE);
    const shown = URL.replaceAll('&', '&amp;');
    expect(html).toMatch(/class="svc-button"[^]*<p dir="ltr" class="svc-small"/);
    expect(html).toContain(`>${shown}</a>`);
    // Outlook for Windows reads no shorthand.
    expect(html).not.toMatch(/background:/);
  });
});

describe('a mail with right-to-left writing', () => {
  const HEBREW = 'חנות';

  it('isolates a name in a text of the other direction, in the subject, the text and the HTML', () => {
    const { subject, text, html } = builtInMail(
      'passwordReset',
      { ...dataOf('passwordReset', 'en'), appName: HEBREW },
      NONE,
    );
    expect(subject).toBe(`Reset your \u2068${HEBREW}\u2069 password`);
    for (const content of [text, html!]) expect(content).toContain(`at \u2068${HEBREW}\u2069`);
    expect(html).toContain(`<p dir="rtl" class="svc-name"`);
    expect(html).toMatch(/<html lang="en" dir="ltr">[^]*<h1 dir="ltr"/);
  });

  it('isolates an address with letters of the other direction, and removes marks that would reverse the text', () => {
    const { text, html } = builtInMail(
      'emailChanged',
      { ...dataOf('emailChanged', 'en'), newEmail: '\u202eמ…@example.org\u202c', to: '\u2067ada@example.com' },
      NONE,
    );
    expect(text).toContain('New address: \u2068מ…@example.org\u2069\n');
    for (const content of [text, html!]) {
      expect(content).not.toMatch(/[\u202a-\u202e\u2066\u2067\u200e\u200f\u061c]/);
      expect(content).toContain(' ada@example.com');
    }
  });

  it('has the direction of the texts of the host, with isolated values, and its code and link from left to right', () => {
    const texts = {
      en: {
        signInCode: { subject: 'הקוד של {appName}', title: 'הקוד שלך', body: '{appName}: הקוד', note: 'English.' },
      },
    };
    const data = dataOf('signInCode', 'en');
    const { subject, text, html } = builtInMail('signInCode', data, { ...NONE, texts });
    expect(subject).toBe('הקוד של \u2068Acme\u2069');
    expect(text).toContain('\n\n\u2068Acme\u2069: הקוד\n\n');
    expect(html).toContain('<html lang="en" dir="rtl">');
    expect(html).toMatch(/<p dir="rtl" class="svc-text"[^>]*>\u2068Acme\u2069: הקוד/);
    expect(html).toMatch(/<p dir="ltr" class="svc-note"[^>]*>English\./);
    expect(html).toMatch(/<p dir="ltr" class="svc-code"[^>]*>493<span [^>]*>018<\/span><\/p>/);
    expect(html).toMatch(/<p dir="ltr" class="svc-small"[^>]*><a href=/);
  });

  it.each([
    ['plain words', 'ltr'],
    ['שלום', 'rtl'],
    ['مرحبا', 'rtl'],
    ['12:00 – שלום, world', 'rtl'],
    ['{appName}: שלום', 'rtl'],
    ['\u2068שלום\u2069 is a name', 'ltr'],
    ['日本', 'ltr'],
    ['𐤀𐤁', 'rtl'],
    ['493018', 'ltr'],
    ['', 'ltr'],
  ])('takes the direction of "%s" from its first letter: %s', (text, direction) => {
    expect(directionOf(text)).toBe(direction);
  });
});

describe('deviceOf', () => {
  it.each([
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
      'Chrome, Windows',
    ],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 Edg/131.0.0.0',
      'Edge, Windows',
    ],
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36 OPR/116.0.0.0',
      'Opera, Linux',
    ],
    [
      'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Safari/605.1.15',
      'Safari, macOS',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
      'Safari, iOS',
    ],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/131.0.6778.73 Mobile/15E148 Safari/604.1',
      'Chrome, iOS',
    ],
    [
      'Mozilla/5.0 (Linux; Android 14; SM-S918B) AppleWebKit/537.36 (KHTML, like Gecko) SamsungBrowser/27.0 Chrome/125.0.0.0 Mobile Safari/537.36',
      'Samsung Internet, Android',
    ],
    [
      'Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
      'Chrome, ChromeOS',
    ],
    [USER_AGENT, 'Firefox, Linux'],
    ['Dalvik/2.1.0 (Linux; U; Android 14)', 'Android'],
    ['curl/8.5.0', null],
    ['', null],
  ])('%s', (userAgent, expected) => expect(deviceOf(userAgent)).toBe(expected));
});

describe('shortenedEmail', () => {
  it.each([
    ['grace@example.org', 'g…@example.org'],
    ['g@example.org', 'g…@example.org'],
    ['g…@example.org', 'g…@example.org'],
    ['😀x@example.org', '😀…@example.org'],
    ['"a@b"@example.org', '"…@example.org'],
    ['@example.org', '…'],
    ['none', '…'],
  ])('%s becomes %s', (email, expected) => expect(shortenedEmail(email)).toBe(expected));
});
