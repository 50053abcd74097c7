import { LANGUAGES, acceptedLanguage, languageOfTag } from './language';

describe('languageOfTag', () => {
  it.each([
    ['de', 'de'],
    ['de-AT', 'de'],
    ['DE-at', 'de'],
    ['zh-Hant-TW', null],
    ['pt-BR', 'pt'],
    ['pt_PT.UTF-8', 'pt'],
    ['ja@calendar=japanese', 'ja'],
    [' fr ', 'fr'],
    ['deu', null],
    ['d', null],
    ['', null],
    ['-de', null],
    ['constructor', null],
  ])('finds for %j: %j', (tag, expected) => expect(languageOfTag(tag)).toBe(expected));
});

describe('acceptedLanguage', () => {
  it.each([
    [undefined, 'en'],
    ['', 'en'],
    ['de', 'de'],
    ['de-AT,de;q=0.9,en;q=0.8', 'de'],
    ['en;q=0.3, fr;q=0.7, es;q=0.5', 'fr'],
    ['it, nl;q=0.9, ja;q=0.1', 'ja'],
    ['it', 'en'],
    ['*', 'en'],
    ['*, es;q=0.5', 'es'],
    ['fr;q=0', 'en'],
    ['fr;q=0.000, de;q=0.001', 'de'],
    ['es, fr', 'es'],
    ['fr ; Q=0.2 , de ;q=0.1', 'fr'],
    ['fr;q=2, de;q=0.1', 'de'],
    ['\xa0fr, de;q=0.1', 'de'],
    ['fr;\xa0q=0.5, de;q=0.1', 'de'],
    ['fr;level=1, de;q=0.1', 'de'],
    [',,;;,de', 'de'],
    [`${'x,'.repeat(29)}de`, 'de'],
    [`${'x,'.repeat(30)}de`, 'en'],
    [['de'], 'en'],
    [7, 'en'],
  ])('chooses for the header %j: %s', (header, expected) => {
    expect(acceptedLanguage(header, LANGUAGES)).toBe(expected);
  });

  it.each([
    ['fr;q=0.5, de', 'fr'],
    ['de', 'es'],
    [undefined, 'es'],
  ])('chooses for %j only among the available languages: %s', (header, expected) => {
    expect(acceptedLanguage(header, ['es', 'fr'])).toBe(expected);
  });
});
