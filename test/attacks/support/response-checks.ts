import { ENCRYPTION_KEY, SECRET } from '../../support/hosts/host.module';
import { PASSWORD } from '../../support/hosts/user-entities';
import type { Answer } from './raw-client';

/** Secrets that no response and no log may contain. */
const SECRETS = [SECRET, ENCRYPTION_KEY, PASSWORD, '$argon2', 'postgres://', 'redis://', 'BEGIN PRIVATE KEY'];

/** Implementation details that no response may contain. */
const INSIDES = [
  /\n\s+at\s/,
  /\S+\.[cm]?[jt]s:\d+/,
  /node_modules|\/(?:tmp|home|usr|root|var|work)\//,
  /\b(?:Type|Range|Reference|Syntax|QueryFailed|Assertion)Error\b|QueryFailed|AggregateError/,
  /\b(?:SELECT|INSERT INTO|UPDATE|DELETE FROM)\s|invalid byte sequence|duplicate key|relation "|violates|syntax error at/,
  /Unexpected token|is not valid JSON|in JSON at/,
  /\bsvc_[a-z]/,
];

export interface Expected {
  /** The allowed statuses. */
  status: readonly number[];
  /** Additional secrets that the response must not contain. */
  secrets?: readonly string[];
  /** Whether the framework responds in its own format, because no route of the library runs. */
  framework?: boolean;
}

/** The problems of a response. The list is empty if it is correct. */
export function problemsOf(answer: Answer, { status, secrets = [], framework = false }: Expected): string[] {
  const { text, headers } = answer;
  const faults: string[] = [];
  if (!status.includes(answer.status))
    faults.push(`status ${answer.status} instead of ${status.join(' or ')}: ${text.slice(0, 300)}`);
  if (answer.status >= 500) faults.push(`a server error: ${text.slice(0, 300)}`);
  if (answer.status === 204 || answer.status === 302) {
    if (text !== '') faults.push(`a body: ${text.slice(0, 100)}`);
  } else {
    faults.push(...bodyFaults(answer, framework));
  }
  if (!framework) faults.push(...headerFaults(answer));
  const whole = `${text}\n${JSON.stringify(headers)}`;
  for (const secret of [...SECRETS, ...secrets])
    if (whole.includes(secret)) faults.push(`it contains ${secret.slice(0, 60)}`);
  for (const pattern of INSIDES) if (pattern.test(text)) faults.push(`it matches ${pattern}: ${text.slice(0, 300)}`);
  return faults;
}

function headerFaults({ headers }: Answer): string[] {
  const caching = headers['cache-control'] ?? '';
  return [
    ...(headers.etag === undefined ? [] : [`an entity tag: ${headers.etag}`]),
    ...(headers['x-content-type-options'] === 'nosniff' ? [] : ['no X-Content-Type-Options']),
    ...(/^no-store\b|^max-age=3600, public$/.test(caching) ? [] : [`Cache-Control: ${caching}`]),
  ];
}

function bodyFaults({ status, text, headers }: Answer, framework: boolean): string[] {
  if (!/^application\/(jwk-set\+)?json\b/.test(headers['content-type'] ?? ''))
    return [`not JSON: ${headers['content-type']}`];
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return [`not JSON: ${text.slice(0, 100)}`];
  }
  if (status < 400) return [];
  const { message, errors, ...rest } = body as { message?: unknown; errors?: unknown; reason?: unknown };
  const faults: string[] = [];
  if (typeof message !== 'string' || message === '') faults.push(`no message: ${text.slice(0, 200)}`);
  const strange = Object.keys(rest).filter((key) => key !== 'reason');
  if (strange.length && !framework) faults.push(`unknown members: ${strange.join()}: ${text.slice(0, 200)}`);
  if (errors !== undefined && !areErrors(errors)) faults.push(`errors of a wrong shape: ${text.slice(0, 200)}`);
  return faults;
}

const areErrors = (errors: unknown): boolean =>
  typeof errors === 'object' &&
  errors !== null &&
  Object.values(errors).every((texts) => Array.isArray(texts) && texts.every((one) => typeof one === 'string'));

/** The problems of a log: it contains a secret or an error. */
export const problemsOfLog = (log: string, secrets: readonly string[] = []): string[] => [
  ...[...SECRETS, ...secrets]
    .filter((secret) => log.includes(secret))
    .map((secret) => `it contains ${secret.slice(0, 60)}`),
  ...log.split('\n').filter((line) => /\b(?:ERROR|FATAL|Unhandled|DeprecationWarning)\b|MaxListeners/.test(line)),
];
