import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { LANGUAGES } from '@svc/auth/languages';
import ts from 'typescript';

const APP = join(__dirname, '../../apps/sample/src/web/app');
const BUILT = /^auth-(client|account|identities)\.js$/;

/** What the first visit does not need is in separate files. */
const PARTS = [
  { folder: 'languages', has: (file: string) => !/identities|access-keys|views\/history/.test(file) },
  { folder: 'languages/access-keys', has: (file: string) => /access-keys/.test(file) },
  { folder: 'languages/history', has: (file: string) => /views\/history/.test(file) },
  { folder: 'languages/identities', has: (file: string) => /identities/.test(file) },
];

/** A page in another language loads one file more. In bytes. */
const LARGEST = 41_000;

const files = readdirSync(APP, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.js'));

/** Each node of a file. */
function* nodesOf(name: string): Generator<ts.Node> {
  const source = ts.createSourceFile(name, readFileSync(join(APP, name), 'utf8'), ts.ScriptTarget.Latest);
  const left: ts.Node[] = [source];
  for (let node = left.pop(); node; node = left.pop()) {
    yield node;
    ts.forEachChild(node, (child) => void left.push(child));
  }
}

/** The texts of the page, and where each is: t`Order ${item}` is `Order {0}`. */
const places = new Map<string, string[]>();
for (const name of files.filter((one) => !BUILT.test(one) && one !== 'language.js'))
  for (const node of nodesOf(name)) {
    if (!ts.isTaggedTemplateExpression(node) || !ts.isIdentifier(node.tag) || !['t', 'nodes'].includes(node.tag.text))
      continue;
    const { template } = node;
    const text = ts.isNoSubstitutionTemplateLiteral(template)
      ? template.text
      : template.head.text + template.templateSpans.map(({ literal }, i) => `{${i}}${literal.text}`).join('');
    places.set(text, [...(places.get(text) ?? []), name]);
  }

const placesIn = (text: string) => (text.match(/\{\d\}/g) ?? []).toSorted();

it('has many texts', () => expect(places.size).toBeGreaterThan(300));

describe.each(PARTS)('in $folder', ({ folder, has }) => {
  const languages = readdirSync(join(APP, folder)).filter((name) => name.endsWith('.json'));
  /** A text of several parts is in the files that every page loads. */
  const texts = new Set(
    [...places]
      .filter(([, names]) => (folder === 'languages' ? names.some(has) : names.every(has)))
      .map(([text]) => text),
  );

  it('there is a file for each language of the library but English', () => {
    expect(languages.toSorted()).toEqual(
      LANGUAGES.filter((one) => one !== 'en')
        .map((one) => `${one}.json`)
        .toSorted(),
    );
  });

  describe.each(languages)('with %s, the page', (name) => {
    const file = readFileSync(join(APP, folder, name));
    const translations = new Map(Object.entries(JSON.parse(file.toString()) as Record<string, string>));

    it('has each of its texts, and no other', () => {
      expect([...texts].filter((text) => !translations.has(text))).toEqual([]);
      expect([...translations.keys()].filter((text) => !texts.has(text))).toEqual([]);
    });

    it('names each view differently', () => {
      const names = [...places]
        .filter(([, where]) => where.includes('main.js'))
        .map(([text]) => translations.get(text));
      expect(names.filter((text, i) => text !== undefined && names.indexOf(text) < i)).toEqual([]);
    });

    it('has the values of each text, and no empty text', () => {
      const isWrong = ([english, text]: [string, string]) =>
        !text.trim() || placesIn(english).join() !== placesIn(text).join();
      expect([...translations].filter(isWrong)).toEqual([]);
    });

    it('loads one file of a limited size', () => {
      expect(file.byteLength).toBeLessThan(LARGEST);
    });
  });
});

describe('a line of the history', () => {
  const lines = readFileSync(join(APP, 'views/history-lines.js'), 'utf8');
  const page = readFileSync(join(__dirname, '../../docs/routes.md'), 'utf8').split('## Names of the security log')[1]!;
  const routes = [...page.matchAll(/^\| `(\w+)` \| `[A-Z]+ \S+` \| (yes|no) \|$/gm)];
  const events = [...page.matchAll(/^\| `auth\.(\w+\.\w+)` \|/gm)].map(([, name]) => name!);
  /** These are of the operators' guard; the line of the account has the name `operator.acted`. */
  const ofAccounts = routes.filter(([, name]) => !name!.startsWith('operator_'));

  it('has words for each success and each event of the security log', () => {
    const names = [
      ...ofAccounts.filter(([, , isLine]) => isLine === 'yes').map(([, name]) => `${name}.succeeded`),
      ...events,
    ];
    expect(names.length).toBeGreaterThan(60);
    const saidByEvent = new RegExp(/SAID_BY_EVENT =\s*\/(.+)\/;/.exec(lines)![1]!);
    expect(names.filter((name) => !lines.includes(`'${name}'`) && !saidByEvent.test(name))).toEqual([]);
    expect(events.filter((name) => saidByEvent.test(name))).toEqual([]);
  });

  it('has words for names of the security log only', () => {
    const named = [...lines.matchAll(/'([a-z_]+)\.(\w+)'/g)].map(([, name, end]) => [name!, `${name}.${end}`] as const);
    const isKnown = ([name, whole]: readonly [string, string]) =>
      events.includes(whole) || routes.some(([, route]) => route === name);
    expect(named.filter((one) => !isKnown(one))).toEqual([]);
  });
});
