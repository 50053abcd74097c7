import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readmeFiles } from '../../docs/generate-readme';
import { ROOT } from './blocks';

const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

const { homepage, version } = JSON.parse(read('libs/auth/package.json')) as { homepage: string; version: string };
const repository = homepage.replace('#readme', '');

/** The words that a reader sees: without comments, elements and the targets of links. */
const wordsOf = (text: string): string[] =>
  text
    .replaceAll(/<!--.*?-->|<[^>]*>|(?<=\])\([^)]*\)/gs, ' ')
    .split(/\s+/)
    .filter((word) => /[\p{L}\p{N}]/u.test(word));

/** The addresses of links and pictures, in Markdown and in elements. */
const addressesIn = (text: string): string[] =>
  [...text.matchAll(/\]\(([^)]+)\)|(?:href|src|srcset)="([^"]+)"/g)].map(([, link, element]) => link ?? element!);

describe('the README', () => {
  it('has at most 700 words', () => {
    expect(wordsOf('<!-- a mark -->\n| [two words](docs/x.md) | – |')).toEqual(['[two', 'words]']);
    expect(wordsOf(read('README.md')).length).toBeLessThanOrEqual(700);
  });

  it('has the set-up commands near its top, and the commands of the continuous integration run the second one', () => {
    const blocks = [...read('README.md').matchAll(/```sh\n(.*?)\n```/gs)].map(([, text]) => text);
    expect(blocks.slice(0, 2)).toEqual(['npm ci && npm start', 'npm ci && npm test']);
    expect(read('.ci/run')).toMatch(/^stage npm ci$[^]*for suite in test /m);
  });

  it('has badges of this version, from no other host', () => {
    const text = read('README.md');
    expect(text).toContain(`![Version ${version}](docs/images/version.svg)`);
    expect(addressesIn(text).filter((address) => /^\w+:/.test(address))).toEqual([]);
    for (const file of addressesIn(text).filter((address) => address.startsWith('../../actions/')))
      expect(file).toMatch(/^..\/..\/actions\/workflows\/ci\.yml(\/badge\.svg)?$/);
  });
});

describe('the page of the package', () => {
  it.each(Object.entries(readmeFiles()))('is current, with its badges (npm run docs): %s', (file, content) => {
    expect(read(file)).toBe(content);
  });

  it('has only links to files of the repository and to its workflow, which exist', () => {
    const addresses = addressesIn(read('libs/auth/README.md'));
    expect(addresses.length).toBeGreaterThan(30);
    expect(addresses.filter((address) => !address.startsWith(`${repository}/`))).toEqual([]);
    const files = addresses.map((address) => address.slice(repository.length + 1).split('#')[0]!);
    const path = (file: string): string =>
      file.replace(/^actions\/workflows\/(\w+\.yml).*/, '.github/workflows/$1').replace(/^(blob|tree|raw)\/main\//, '');
    expect(files.filter((file) => !existsSync(join(ROOT, path(file))))).toEqual([]);
  });

  it('shows pictures as they are, and files and folders as pages', () => {
    const text = read('libs/auth/README.md');
    expect(text).toContain(
      `[![Tests](${repository}/actions/workflows/ci.yml/badge.svg)](${repository}/actions/workflows/ci.yml)`,
    );
    expect(text).toContain(`src="${repository}/raw/main/docs/images/sample-light.png"`);
    expect(text).toContain(`](${repository}/blob/main/docs/quick-start.md)`);
    expect(text).not.toContain('<!--');
  });
});
