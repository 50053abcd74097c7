// The page of the package, which is the README of the repository with absolute links, and the badges of both.
import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..');

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const manifest = JSON.parse(read('libs/auth/package.json')) as { homepage: string; version: string; license: string };

const REPOSITORY = manifest.homepage.replace('#readme', '');

/** An address of the host of the repository, relative to the README there: `../../actions/workflows/ci.yml`. */
const OF_HOST = /^\.\.\/\.\.\//;

/** Where a file of the repository is shown; `raw` for a picture. */
function absolute(address: string, isPicture = false): string {
  if (/^(?:https?:|#)/.test(address)) return address;
  if (OF_HOST.test(address)) return address.replace(OF_HOST, `${REPOSITORY}/`);
  const [file = ''] = address.split('#');
  const kind = isPicture ? 'raw' : statSync(join(ROOT, file)).isDirectory() ? 'tree' : 'blob';
  return `${REPOSITORY}/${kind}/main/${address}`;
}

/** The content of `libs/auth/README.md`. The marks for the site have no use there. */
export const packageReadme = (): string =>
  read('README.md')
    .replaceAll(/<!--.*?-->\n\n/g, '')
    .replaceAll(/(!?)\[((?:[^[\]]|\[[^\]]*\](?:\([^)]*\))?)*)\]\(([^)]+)\)/g, linked)
    .replaceAll(
      /\b(href|src|srcset)="([^"]+)"/g,
      (_, name, address) => `${name}="${absolute(address, name !== 'href')}"`,
    );

/** A link, or a picture that can be the text of a link. */
function linked(_: string, mark: string, text: string, address: string): string {
  const inner = text.replaceAll(
    /!\[([^\]]*)\]\(([^)]+)\)/g,
    (_picture, alt, src) => `![${alt}](${absolute(src, true)})`,
  );
  return `${mark}[${inner}](${absolute(address, mark === '!')})`;
}

/** The width of a character of the badge, in pixels. The text is stretched to it, so that it fits with every font. */
const CHARACTER = 6.4;
const PADDING = 6;

/** A badge: a name on gray, and a value on blue. White on both has a contrast of more than 4.5. */
function badge(name: string, value: string): string {
  const [left, right] = [name, value].map((text) => Math.round(text.length * CHARACTER) + 2 * PADDING) as [
    number,
    number,
  ];
  const label = (text: string, x: number, width: number): string =>
    `<text x="${x + width / 2}" y="14" textLength="${width - 2 * PADDING}">${text}</text>`;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${left + right}" height="20" role="img" aria-label="${name}: ${value}">
<title>${name}: ${value}</title>
<clipPath id="c"><rect width="${left + right}" height="20" rx="3"/></clipPath>
<g clip-path="url(#c)"><path fill="#444d56" d="M0 0h${left}v20H0z"/><path fill="#2953b8" d="M${left} 0h${right}v20H${left}z"/></g>
<g fill="#fff" text-anchor="middle" font-family="Verdana,Geneva,DejaVu Sans,sans-serif" font-size="11">
${label(name, 0, left)}
${label(value, left, right)}
</g>
</svg>
`;
}

/** The files that are generated, by their paths. */
export const readmeFiles = (): Record<string, string> => ({
  'docs/images/version.svg': badge('version', manifest.version),
  'docs/images/license.svg': badge('license', manifest.license),
  'libs/auth/README.md': packageReadme(),
});

if (require.main === module)
  for (const [file, content] of Object.entries(readmeFiles())) writeFileSync(join(ROOT, file), content);
