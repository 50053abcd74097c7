import type { Finding } from './config-checks';

/** The names of variables and options that have a secret. `passkeys` has none. */
const SECRET_NAME = /secret|pass(?!key)|private|credential|tokens?$|_pwd$|(?<!pass)keys?$/i;

/** A shorter text may be a part of an ordinary word. */
const SHORTEST = 6;

/** The levels of objects in options: guards, a guard, its keys, the public keys. */
const DEEPEST = 6;

/** Replaces secrets in texts that are printed. */
export class Secrets {
  private readonly texts: readonly string[];

  /** @param sources options in which secrets are searched, besides the variables of the process */
  constructor(...sources: unknown[]) {
    const found = [process.env, ...sources].flatMap((source) => secretsIn({ ...(source as object | undefined) }));
    this.texts = [...new Set(found.flatMap(formsOf))]
      .filter((text) => text.trim().length >= SHORTEST)
      .toSorted((a, b) => b.length - a.length);
  }

  hideIn(text: string): string {
    return this.texts.reduce((shown, secret) => shown.replaceAll(secret, '***'), text);
  }

  hideInFinding({ message, cure, ...finding }: Finding): Finding {
    return { ...finding, message: this.hideIn(message), ...(cure !== undefined && { cure: this.hideIn(cure) }) };
  }
}

/** The secrets of an object, by the names of its entries, and the passwords of all URLs in it. */
function secretsIn(value: unknown, name = '', depth = 0): string[] {
  if (typeof value === 'string') {
    // A list of secrets is one text with commas, and a message may have a line of a key.
    return [...(SECRET_NAME.test(name) ? [value, ...value.split(/[,\n]|\\n/)] : []), ...passwordsIn(value)];
  }
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return [];
  if (Array.isArray(value)) return value.flatMap((one) => secretsIn(one, name, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  // Not of an instance of a class, such as a client with its whole state.
  const isPlain = prototype === null || Object.getPrototypeOf(prototype) === null;
  return isPlain ? Object.entries(value).flatMap(([key, one]) => secretsIn(one, key, depth + 1)) : [];
}

/** The passwords of the URLs in a text, which may be no valid URLs. */
function passwordsIn(text: string): string[] {
  const patterns = [
    /:\/\/[^\s:/]*:([^\s/?#]*)@/g,
    // With one of these characters in the password, although it has to be encoded.
    /:\/\/[^\s:/]*:(\S*)@/g,
    // A user without a password is a key, as in SENTRY_DSN. In other schemes it is the name of an account.
    /https?:\/\/([^\s:/?#@]+):?@/g,
    /[?&]\w*(?:password|passphrase|secret|token)=([^&#\s]*)/gi,
  ];
  const found = patterns.flatMap((pattern) => [...text.matchAll(pattern)].map(([, password = '']) => password));
  return URL.canParse(text) ? [...found, new URL(text).password] : found;
}

/** A text as it is, and encoded and decoded as in a URL. */
function formsOf(text: string): string[] {
  const decoded = text.replaceAll(/(?:%[\da-f]{2})+/gi, (part) => converted(decodeURIComponent, part));
  return [text.trim(), converted(encodeURIComponent, text), decoded];
}

/** A text that cannot be converted stays: a percent sign that encodes nothing, or half of a character. */
function converted(convert: (text: string) => string, text: string): string {
  try {
    return convert(text);
  } catch {
    return text;
  }
}
