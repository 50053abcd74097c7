import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { FEATURES } from '../../features';
import { mailsOf } from '../../features/mail/mail-gate';
import { LANGUAGES, type Language } from '../platform/language';
import { MESSAGES } from '../platform/messages';
import { Texts } from './texts';

const TEXTS = new Texts(FEATURES);

/** All texts of a catalogue by path. */
function textsIn(value: unknown, path = ''): [string, string][] {
  if (typeof value === 'string') return [[path, value]];
  return Object.entries(value as object).flatMap(([name, part]) => textsIn(part, `${path}/${name}`));
}

const placeholdersIn = (text: string): string[] => [...new Set(text.match(/\{\w+\}/g))].toSorted();

const OTHERS = LANGUAGES.filter((language) => language !== 'en');

/** The keys of the messages that the files of features declare. */
const SOURCE = join(__dirname, '../..');
const declared = readdirSync(SOURCE, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.texts.ts'))
  .flatMap((file) => Object.entries(require(join(SOURCE, file)) as Record<string, object>))
  .flatMap(([name, messages]) => (name.endsWith('_MESSAGES') ? Object.keys(messages) : []));

describe.each(LANGUAGES)('the texts in %s', (language) => {
  const texts = textsIn(TEXTS.in(language));

  it('are not empty, have no space at an end and no straight quotation mark', () => {
    for (const [path, text] of texts) expect([path, text]).toEqual([path, expect.stringMatching(/^\S([^"]*\S)?$/)]);
  });

  it('have each message, of the core and of each feature', () => {
    expect(declared.length).toBeGreaterThan(20);
    expect(Object.keys(TEXTS.in(language).messages).toSorted()).toEqual(
      [...Object.keys(MESSAGES), ...declared].toSorted(),
    );
  });

  it('have a mail of each kind', () => {
    expect(Object.keys(TEXTS.in(language).mails).toSorted()).toEqual(
      [...mailsOf(FEATURES).keys(), 'shared'].toSorted(),
    );
  });

  it('have a subject and a title for each mail that no other mail has', () => {
    for (const part of ['subject', 'title']) {
      const found = texts.flatMap(([path, text]) =>
        path.startsWith('/mails/') && path.endsWith(`/${part}`) ? text : [],
      );
      expect(found.length).toBeGreaterThan(15);
      expect(found.filter((text, i) => found.indexOf(text) < i)).toEqual([]);
    }
  });
});

describe.each(OTHERS)('the texts in %s', (language: Language) => {
  const { messages, mails, fields } = TEXTS.in(language);

  it('are those of the English catalogue, with the same placeholders', () => {
    // The word "error" of the English text is one or many, which the other texts avoid.
    const english = textsIn({ messages: TEXTS.in('en').messages, mails: TEXTS.in('en').mails });
    const expected = english.map(([path, text]) => [path, placeholdersIn(text.replace('{errors}', ''))]);
    expect(textsIn({ messages, mails }).map(([path, text]) => [path, placeholdersIn(text)])).toEqual(expected);
  });

  it('differ from the English texts', () => {
    const english = new Map(textsIn({ messages: TEXTS.in('en').messages, mails: TEXTS.in('en').mails }));
    expect(textsIn({ messages, mails }).filter(([path, text]) => english.get(path) === text)).toEqual([]);
  });

  it('name the same fields as the other languages', () => {
    expect(Object.keys(fields)).toEqual(Object.keys(TEXTS.in('de').fields));
  });

  it('keep the name of a field that has no name in the language', () => {
    for (const field of ['shoe size', 'constructor', '__proto__']) expect(TEXTS.field(language, field)).toBe(field);
    expect(TEXTS.field(language, 'current password')).toBe(fields['current password']);
  });
});

it('English needs no catalogue for the messages', () => {
  expect(TEXTS.message('en', 'auth.locked')).toBe(MESSAGES['auth.locked']);
  expect(TEXTS.field('en', 'email')).toBe('email');
});
