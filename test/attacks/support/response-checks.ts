import { ENCRYPTION_KEY, SECRET } from '../../support/host.module';
import { PASSWORD } from '../../support/user-entities';
import type { Answer } from './raw-client';

/** What neither an answer nor a log may hold, whatever was asked. */
const SECRETS = [SECRET, ENCRYPTION_KEY, PASSWORD, '$argon2', 'postgres://', 'redis://', 'BEGIN PRIVATE KEY'];

/** What an answer says only by mistake: how the program is made. */
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
  /** The statuses that will do. */
  status: readonly number[];
  /** More texts that the answer must not repeat. */
  secrets?: readonly string[];
  /** Whether the framework answers, in its own shape: no route of ours is asked. */
  framework?: boolean;
}

/** What is wrong with an answer; nothing, as a rule. */
export function problemsOf(answer: Answer, { status, secrets = [], framework = false }: Expected): string[] {
  const { text, headers } = answer;
  const faults: string[] = [];
  if (!status.includes(answer.status))
    faults.push(`status ${answer.status} instead of ${status.join(' or ')}: ${text.slice(0, 300)}`);
  if (answer.status >= 500) faults.push(`a fault of ours: ${text.slice(0, 300)}`);
  if (answer.status === 204 || answer.status === 302) {
    if (text !== '') faults.push(`a body: ${text.slice(0, 100)}`);
  } else {
    faults.push(...bodyFaults(answer, framework));
  }
  const whole = `${text}\n${JSON.stringify(headers)}`;
  for (const secret of [...SECRETS, ...secrets])
    if (whole.includes(secret)) faults.push(`it says ${secret.slice(0, 60)}`);
  for (const pattern of INSIDES) if (pattern.test(text)) faults.push(`it matches ${pattern}: ${text.slice(0, 300)}`);
  return faults;
}

function bodyFaults({ status, text, headers }: Answer, framework: boolean): string[] {
  if (!/^application\/(jwk-set\+)?json\b/.test(headers['content-type'] ?? ''))
    return [`no JSON: ${headers['content-type']}`];
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return [`no JSON: ${text.slice(0, 100)}`];
  }
  if (status < 400) return [];
  const { message, errors, ...rest } = body as { message?: unknown; errors?: unknown; reason?: unknown };
  const faults: string[] = [];
  if (typeof message !== 'string' || message === '') faults.push(`no message: ${text.slice(0, 200)}`);
  const strange = Object.keys(rest).filter((key) => key !== 'reason');
  if (strange.length && !framework) faults.push(`members that no error has: ${strange.join()}: ${text.slice(0, 200)}`);
  if (errors !== undefined && !areErrors(errors)) faults.push(`errors of another shape: ${text.slice(0, 200)}`);
  return faults;
}

const areErrors = (errors: unknown): boolean =>
  typeof errors === 'object' &&
  errors !== null &&
  Object.values(errors).every((texts) => Array.isArray(texts) && texts.every((one) => typeof one === 'string'));

/** What is wrong with a log: it holds a secret, or tells of a fault. */
export const problemsOfLog = (log: string, secrets: readonly string[] = []): string[] => [
  ...[...SECRETS, ...secrets]
    .filter((secret) => log.includes(secret))
    .map((secret) => `it says ${secret.slice(0, 60)}`),
  ...log.split('\n').filter((line) => /\b(?:ERROR|FATAL|Unhandled|DeprecationWarning)\b|MaxListeners/.test(line)),
];
