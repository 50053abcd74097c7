import type { Language } from '../../foundation/platform/language';

/** The parts of a mail in their order, as plain texts. */
export interface MailParts {
  readonly language: Language;
  readonly appName: string;
  /** `#rrggbb` */
  readonly accentColor: string;
  readonly logo: string | undefined;
  /** What the list of a mail program shows beside the subject. */
  readonly preheader: string;
  readonly title: string;
  readonly greeting: string | undefined;
  readonly body: readonly string[];
  readonly code: string | undefined;
  readonly details: readonly (readonly [label: string, value: string])[];
  readonly link: { readonly url: string; readonly label: string; readonly hint: string } | undefined;
  /** How long the link or the code is valid. */
  readonly validity: string | undefined;
  readonly note: readonly string[];
  readonly footer: string;
}

/** A direction of writing. */
export type Direction = 'ltr' | 'rtl';

/** The blocks of Unicode whose letters are written from right to left (UAX #9, table of `Bidi_Class`). */
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

const [ISOLATE, END] = ['\u2068', '\u2069'];

/**
 * The direction of a text: that of its first letter (UAX #9, rules P2 and P3). Placeholders and isolated values do not count. Pure.
 * It is stated in the HTML, because some mail programs do not know `dir="auto"`.
 */
export function directionOf(text: string): Direction {
  const own = text.replaceAll(/\{\w+\}|\u2068[^\u2069]*\u2069/g, '');
  return RIGHT_TO_LEFT.test(/\p{L}/u.exec(own)?.[0] ?? '') ? 'rtl' : 'ltr';
}

/**
 * A value that another person may have chosen, for a text of a direction. It cannot change the order of what is around it: its own
 * marks of direction are removed, and it is isolated where its letters may have another direction (UAX #9 §2.7). Pure.
 */
export function isolated(value: string, around: Direction): string {
  const plain = value.replaceAll(/\p{Bidi_Control}/gu, '');
  return around === 'rtl' || RIGHT_TO_LEFT.test(plain) ? `${ISOLATE}${plain}${END}` : plain;
}

/** The plain text of a mail. */
export function textOf(parts: MailParts): string {
  const { language, title, greeting, body, code, details, link, validity, note, footer } = parts;
  // Japanese has a colon of full width, and French a space before it.
  const colon = { ja: '：', fr: '\u00a0: ' }[language as string] ?? ': ';
  const blocks = [
    title,
    greeting,
    ...body,
    code,
    details.map(([label, value]) => `${label}${colon}${value}`).join('\n'),
    link && `${link.label}${colon.trimEnd()}\n${link.url}`,
    validity,
    ...note,
    `-- \n${footer}`,
  ];
  return `${blocks.filter(Boolean).join('\n\n')}\n`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (character) => ENTITIES[character]!);

/** The fonts of the systems. A web font would be a remote file. */
const FONTS =
  "-apple-system,BlinkMacSystemFont,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Hiragino Sans','Noto Sans CJK JP',Meiryo,sans-serif";

/** The height of the logo in pixels. An attribute, which Outlook for Windows reads, too; the width follows from it. */
const LOGO_HEIGHT = 40;

/** The styles of the parts in light mode. They are inline, because some mail clients remove style sheets. */
const STYLES = {
  page: `margin:0;padding:24px 12px;background-color:#f6f5f1;color:#1b1a17;font:16px/1.55 ${FONTS}`,
  preheader:
    'display:none;max-height:0;max-width:0;overflow:hidden;opacity:0;font-size:1px;line-height:1px;color:#f6f5f1;mso-hide:all',
  frame: 'max-width:560px;margin:0 auto',
  name: 'margin:0 4px 12px;font-weight:600;color:#5b574c',
  logo: 'max-width:100%;border:0;font-size:18px;vertical-align:middle',
  card: 'padding:28px 24px;background-color:#ffffff;border:1px solid #e0dcd2;border-radius:10px',
  title: 'margin:0 0 16px;font-size:22px;line-height:1.3;font-weight:650;color:#1b1a17',
  text: 'margin:0 0 16px;color:#1b1a17',
  code: 'margin:0 0 16px;padding:14px 8px;background-color:#f1efe9;border-radius:8px;text-align:center;white-space:nowrap;font:600 30px/1.2 ui-monospace,Menlo,Consolas,monospace;letter-spacing:4px;color:#1b1a17',
  details: 'margin:0 0 16px;padding:12px 16px;background-color:#f1efe9;border-radius:8px',
  label: 'margin:0;font-size:14px;color:#5b574c',
  value: 'margin:0 0 8px;overflow-wrap:anywhere;color:#1b1a17',
  last: 'margin:0;overflow-wrap:anywhere;color:#1b1a17',
  link: 'margin:24px 0',
  button: 'display:inline-block;padding:12px 22px;border-radius:8px;font-weight:600;text-decoration:none',
  small: 'margin:0 0 16px;font-size:14px;color:#5b574c',
  url: 'overflow-wrap:anywhere;word-break:break-all;color:#2f45cf',
  note: 'margin:16px 0 0;padding-top:16px;border-top:1px solid #e0dcd2;font-size:14px;color:#5b574c',
  footer: 'margin:14px 4px 0;font-size:13px;color:#5b574c;overflow-wrap:anywhere',
} as const;

type Part = keyof typeof STYLES;

/** The colors of dark mode, for the mail clients that support a style sheet. `!important` outweighs the inline styles. */
const DARK: readonly (readonly [parts: readonly Part[], style: string])[] = [
  [['page'], 'background-color:#16181d!important;color:#e9ebf0!important'],
  [['card'], 'background-color:#1e2128!important;border-color:#343944!important'],
  [['title', 'text', 'value', 'last'], 'color:#e9ebf0!important'],
  [['code', 'details'], 'background-color:#17191f!important;color:#e9ebf0!important'],
  [['name', 'label', 'small', 'footer'], 'color:#a6adbb!important'],
  [['note'], 'color:#a6adbb!important;border-color:#343944!important'],
  [['url'], 'color:#9db2ff!important'],
];

const SHEET = `:root{color-scheme:light dark;supported-color-schemes:light dark}@media (prefers-color-scheme:dark){${DARK.map(
  ([parts, style]) => `${parts.map((part) => `.svc-${part}`).join(',')}{${style}}`,
).join('')}}`;

/**
 * Outlook's own dark mode inverts colors and ignores the media query; it marks what it has inverted with these attributes. The
 * button keeps both of its colors, so that its text stays legible, and the plain link gets the color of dark mode.
 */
const outlookSheet = (accentColor: string, textColor: string): string =>
  `[data-ogsb] .svc-button{background-color:${accentColor}!important}` +
  `[data-ogsc] .svc-button,[data-ogsc] .svc-button span{color:${textColor}!important}` +
  '[data-ogsc] .svc-url{color:#9db2ff!important}';

/** The attributes of a part. */
const styled = (part: Part, more = ''): string => `class="svc-${part}" style="${STYLES[part]}${more}"`;

/** An element with a text, which has the direction of the text. */
const element = (tag: string, part: Part, text: string, direction = directionOf(text)): string =>
  `<${tag} dir="${direction}" ${styled(part)}>${escaped(text)}</${tag}>`;

const paragraph = (part: Part, text: string): string => element('p', part, text);

/** A code in two halves, so that a reader keeps its place. No space is between them: what is copied is the code. */
function inHalves(code: string): string {
  const half = Math.ceil(code.length / 2);
  return `${escaped(code.slice(0, half))}<span style="margin-left:14px">${escaped(code.slice(half))}</span>`;
}

/**
 * The HTML of a mail, in light and in dark mode. It has no script and no remote file, except the logo of the host: without one, a mail
 * client shows it completely, and opening it sends nothing.
 */
export function htmlOf(parts: MailParts): string {
  const { language, accentColor, title, greeting, body, code, details, link, validity, note, footer } = parts;
  const color = textColorOn(accentColor);
  const button = styled('button', `;background-color:${accentColor};color:${color}`);
  // Outlook gives its own color to a link, but not to the text of an element in it.
  const inButton = (label: string): string => `<span style="color:${color}">${escaped(label)}</span>`;
  const rows = details.map(
    ([label, value], i) =>
      element('dt', 'label', label) +
      // The value is isolated, and begins below its label.
      element('dd', i < details.length - 1 ? 'value' : 'last', value, directionOf(label)),
  );
  const blocks = [
    element('h1', 'title', title),
    greeting && paragraph('text', greeting),
    ...body.map((text) => paragraph('text', text)),
    code && `<p dir="ltr" ${styled('code')}>${inHalves(code)}</p>`,
    rows.length > 0 && `<dl ${styled('details')}>${rows.join('')}</dl>`,
    link &&
      `<p dir="${directionOf(link.label)}" ${styled('link')}>${anchor(link.url, inButton(link.label), button)}</p>`,
    link && paragraph('small', link.hint),
    link && `<p dir="ltr" ${styled('small')}>${anchor(link.url, escaped(link.url), styled('url'))}</p>`,
    validity && paragraph('small', validity),
    ...note.map((text) => paragraph('note', text)),
  ];
  return `<!doctype html>
<html lang="${language}" dir="${directionOf(title)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<title>${escaped(title)}</title>
<style>${SHEET}${outlookSheet(accentColor, color)}</style>
</head>
<body ${styled('page')}>
${element('div', 'preheader', parts.preheader)}
<main ${styled('frame')}>
${nameOf(parts)}
<div ${styled('card')}>
${blocks.filter(Boolean).join('\n')}
</div>
${paragraph('footer', footer)}
</main>
</body>
</html>
`;
}

/** The name of the application, or its logo. Where pictures are blocked, the name replaces the logo, in the same style. */
function nameOf({ appName, logo }: MailParts): string {
  if (!logo) return paragraph('name', appName);
  const picture = `<img src="${escaped(logo)}" alt="${escaped(appName)}" height="${LOGO_HEIGHT}" ${styled('logo')}>`;
  return `<p dir="${directionOf(appName)}" ${styled('name')}>${picture}</p>`;
}

/**
 * A link in a new tab, because a mail client shows the mail in a frame.
 *
 * @param content HTML
 */
const anchor = (url: string, content: string, attributes: string): string =>
  `<a href="${escaped(url)}" target="_blank" rel="noopener noreferrer" ${attributes}>${content}</a>`;

/** Black or white text on the accent color, whichever has the higher contrast (WCAG 2.2, relative luminance). */
function textColorOn(accentColor: string): string {
  const [red, green, blue] = [1, 3, 5].map((i) => {
    const channel = Number.parseInt(accentColor.slice(i, i + 2), 16) / 255;
    return channel <= 0.04045 ? channel / 12.92 : ((channel + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  const luminance = 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  return luminance > 0.179 ? '#000000' : '#ffffff';
}
