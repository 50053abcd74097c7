/** The languages of the page and of the server, by their tags. The texts of the sources are English. */
export const LANGUAGES = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  pt: 'Português',
  ja: '日本語',
};
const KEY = 'svc-page:language';

function chosen() {
  try {
    return localStorage.getItem(KEY);
  } catch {
    return null;
  }
}

/** The language of the document if it has only one, the one that the user has chosen, or the first one of the browser that the page has. */
export const language =
  [document.documentElement.dataset.only, chosen(), ...navigator.languages]
    .map((tag) => tag?.split('-')[0])
    .find((tag) => tag && Object.hasOwn(LANGUAGES, tag)) ?? 'en';

/** The tag for times and numbers: that of the browser, if it is of the language of the page. */
export const locale = navigator.languages.find((tag) => tag.split('-')[0] === language) ?? language;

/** Keeps the choice, and loads the page anew: each text is read once. */
export function choose(tag) {
  localStorage.setItem(KEY, tag);
  location.reload();
}

// The server writes its messages in the language of the page, also where the browser prefers another one.
const { fetch: send } = globalThis;
/** The last request that changed something at a route of the library, and its status: what led to an event of the client. */
export let exchange;
globalThis.fetch = async (input, init) => {
  const request = new Request(input, init);
  request.headers.set('Accept-Language', language);
  const answer = await send(request);
  const { method, url } = request;
  if (/auth\//.test(url) && method !== 'GET') exchange = [`${method} ${new URL(url).pathname}`, answer.status];
  return answer;
};

/** Translations by the English text. Without the file of the language, the page is English. */
const texts = {};

/** Loads the translations of the first visit, or those of a part of the page. */
export const load = async (part = '') => {
  const file = language !== 'en' && (await fetch(`/web/languages/${part}${language}.json`).catch(() => undefined));
  Object.assign(texts, file && (await file.json().catch(() => ({}))));
};
await load();

const textOf = (parts) => {
  const english = parts.reduce((text, part, i) => `${text}{${i - 1}}${part}`);
  return texts[english] ?? english;
};

/** A text in the language of the page: t`Order ${item}`. The translation of `Order {0}` decides where the value is. */
export const t = (parts, ...values) => textOf(parts).replaceAll(/\{(\d)\}/g, (_, i) => values[i]);

/** The same with values that are nodes. @returns nodes and texts */
export const nodes = (parts, ...values) =>
  textOf(parts)
    .split(/\{(\d)\}/)
    .map((part, i) => (i % 2 ? values[part] : part));

document.documentElement.lang = language;
