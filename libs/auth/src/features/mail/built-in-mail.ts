import { isIP } from 'node:net';
import type { Texts } from '../../foundation/languages/texts';
import type { Language } from '../../foundation/platform/language';
import { fill } from '../../foundation/platform/messages';
import type { MailContent, MailData, MailKind, MailTextReplacements } from '../../foundation/ports/mail';
import { type MailParts, directionOf, htmlOf, isolated, textOf } from './mail-layout';

/** Everything that the data of a mail can contain, and a built-in mail shows. */
interface AnyMailData extends MailData {
  /** Null for a mail without a link, of a kind that has mails with one. */
  readonly url?: string | null;
  readonly code?: string;
  /** How long the link and the code are valid. */
  readonly minutes?: number;
  readonly days?: number;
  readonly time?: Date;
  readonly newEmail?: string;
  readonly userAgent?: string | null;
  readonly ip?: string | null;
}

/** What a host can change of the built-in mails. */
interface Adjustments {
  readonly texts: MailTextReplacements;
  readonly accentColor: string;
  /** The address of a picture. */
  readonly logo?: string;
}

/** Returns the built-in content of a mail: plain text, and the same in HTML. */
export function builtInMail(
  kind: MailKind,
  data: AnyMailData,
  { texts, accentColor, logo }: Adjustments,
  library: Texts,
): MailContent {
  const { language, appName, to, url, code, name } = data;
  const { mails } = library.in(language);
  const own = texts[language];
  const text = { ...mails[kind], ...own?.[kind] };
  const shared = { ...mails.shared, ...own?.shared };
  const minutes = data.days === undefined ? data.minutes : data.days * MINUTES_OF_DAY;
  const duration = minutes === undefined ? '' : durationIn(language, minutes);
  const filled = (template: string): string => {
    const around = directionOf(template);
    return fill(template, { appName: isolated(appName, around), to: isolated(to, around), duration });
  };
  const paragraphs = (template: string): string[] => filled(template).split(/\n{2,}/);
  const details = [
    data.time && [shared.time, timeIn(language, data.time)],
    data.newEmail && [shared.newEmail, data.newEmail],
    data.userAgent !== undefined && [shared.device, deviceOf(data.userAgent ?? '') ?? shared.unknown],
    data.ip !== undefined && [shared.ipAddress, isIP(data.ip ?? '') ? data.ip : shared.unknown],
  ];
  const withoutLink = url === null ? text.bodyWithoutLink : undefined;
  const body = paragraphs(withoutLink ?? text.body);
  const validity = code || url ? filled(code ? shared.codeValidity : shared.linkValidity) : undefined;
  const parts: MailParts = {
    language,
    appName,
    accentColor,
    logo,
    // The last paragraph without a link says what to do instead.
    preheader: [withoutLink === undefined ? filled(text.preheader) : body.at(-1), validity].filter(Boolean).join(' '),
    title: filled(text.title),
    greeting: name && fill(shared.greeting, { name: isolated(name, directionOf(shared.greeting)) }),
    body,
    code,
    details: details
      .filter((detail): detail is [string, string] => Boolean(detail))
      .map(([label, value]) => [label, isolated(value, directionOf(label))]),
    link: url ? { url, label: filled(text.link ?? text.title), hint: filled(shared.linkAddress) } : undefined,
    validity,
    note: paragraphs(text.note),
    footer: filled(shared.footer),
  };
  return { subject: filled(text.subject).replaceAll(/\s+/g, ' '), text: textOf(parts), html: htmlOf(parts) };
}

/** The local part of an address shortened to its first character: `a…@example.com`. */
export function shortenedEmail(email: string): string {
  const at = email.lastIndexOf('@');
  const [first = ''] = email;
  return at > 0 ? `${first}…${email.slice(at)}` : '…';
}

/** The English of Great Britain has a time of 24 hours, and the day before the month, as most readers of English expect. */
const localeOf = (language: Language): string => ({ en: 'en-GB', pt: 'pt-BR' })[language as string] ?? language;

const MINUTES_OF_DAY = 24 * 60;

const UNITS = [
  ['day', MINUTES_OF_DAY],
  ['hour', 60],
] as const;

/** A duration in the largest unit of which it is a multiple, but never one of them: `7 days`, `24 hours`, `60 minutes`. */
function durationIn(language: Language, minutes: number): string {
  const [unit, size] = UNITS.find(([, one]) => minutes % one === 0 && minutes > one) ?? (['minute', 1] as const);
  const format = new Intl.NumberFormat(localeOf(language), { style: 'unit', unit, unitDisplay: 'long' });
  return format.format(minutes / size);
}

/** A time in UTC, with the name of the time zone. */
const timeIn = (language: Language, time: Date): string =>
  new Intl.DateTimeFormat(localeOf(language), {
    year: 'numeric',
    month: 'long',
    day: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
    timeZone: 'UTC',
    timeZoneName: 'short',
  }).format(time);

/** Browsers and systems with a part of their `User-Agent`. The first match counts: many contain the name of another one. */
const BROWSERS: readonly (readonly [part: RegExp, name: string])[] = [
  [/\bEdg(e|A|iOS)?\//, 'Edge'],
  [/\b(OPR|OPiOS)\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/\b(Chrome|CriOS)\//, 'Chrome'],
  [/\bVersion\/\S+ (Mobile\/\S+ )?Safari\//, 'Safari'],
];
const SYSTEMS: typeof BROWSERS = [
  [/\b(iPhone|iPad|iPod)\b/, 'iOS'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/**
 * The browser and the system of a client, such as `Firefox, Windows`; null if both are unknown. Only known names: the client
 * chooses the text, and could write its own message into a genuine mail.
 */
export function deviceOf(userAgent: string): string | null {
  const names = [BROWSERS, SYSTEMS].map((known) => known.find(([part]) => part.test(userAgent))?.[1]);
  return names.filter(Boolean).join(', ') || null;
}
