import type { Parameter } from './parameters';

/** A statement as it was sent, and its answer. */
export interface Sent {
  text: string;
  parameters: Parameter[];
  rows: Record<string, string | null>[];
}

/** Two requests that follow one another: the second one presents what the first one was given. */
export type Chain = readonly [Sent[], Sent[]];

/** Where a part of a parameter is: statement, parameter, part. */
export type Place = readonly [number, number, number];

/** Where a part of a parameter comes from. */
export type Origin =
  /** The same for everyone. */
  | { is: 'constant'; value: string | null }
  /** A column of an earlier answer to the same request, as it is or some way on, as a point in time is. */
  | { is: 'answer'; statement: number; column: string; plus?: number }
  /** The chain's own, and the same at each of its requests. */
  | { is: 'own'; place: Place }
  /** What the request before made up: a token that was issued then, and is presented now. */
  | { is: 'previous'; made: Place }
  /** Made up anew: a hash. */
  | { is: 'fresh'; place: Place };

const HEX = /^[0-9a-f]{64}$/;
/** How far apart distances may be that are one: what passes between two lines of code, in seconds. */
const NEAR = 0.5;

export const partAt = (request: Sent[], [statement, parameter, part]: Place): string | null =>
  request[statement]!.parameters[parameter]!.parts[part]!;

export const placesOf = (request: Sent[]): Place[] =>
  request.flatMap(({ parameters }, statement) =>
    parameters.flatMap(({ parts }, parameter) => parts.map((_, part) => [statement, parameter, part] as const)),
  );

/**
 * Finds out where a part of a parameter comes from, by what holds in every recording.
 *
 * @throws for an origin that pgbench cannot imitate
 */
export function originOf(chains: readonly Chain[], place: Place): Origin {
  const requests = chains.flat();
  const [example] = requests;
  const places = placesOf(example!);
  const at = (request: Sent[]): string | null => partAt(request, place);
  const isAlways = (other: (request: Sent[]) => string | null | undefined): boolean =>
    requests.every((request) => other(request) === at(request));

  if (isAlways(() => at(example!))) return { is: 'constant', value: at(example!) };
  const answer = answersBefore(requests, place).find(({ of }) => isAlways(of));
  if (answer) return { is: 'answer', statement: answer.statement, column: answer.column };
  // The first place with the same value: all of them share its variable.
  const index = places.findIndex((other) => other.every((step, i) => step === place[i]));
  const same = places.slice(0, index).find((other) => isAlways((request) => partAt(request, other)));
  if (same) return originOf(chains, same);
  const made = places.find((other) =>
    chains.every(([one, next]) => partAt(one, other) === at(next) && at(one) !== at(next)),
  );
  if (made) return { is: 'previous', made };
  if (chains.every(([one, next]) => at(one) === at(next))) return { is: 'own', place };
  if (requests.every((request) => HEX.test(at(request) ?? ''))) return { is: 'fresh', place };
  return fartherOn(requests, place);
}

interface Column {
  statement: number;
  column: string;
  of(request: Sent[]): string | null;
}

const answersBefore = (requests: Sent[][], [before]: Place): Column[] =>
  requests[0]!.slice(0, before).flatMap(({ rows: [row] }, statement) =>
    requests.every((request) => request[statement]!.rows.length === 1)
      ? Object.keys(row!).map((column) => ({
          statement,
          column,
          of: (request: Sent[]) => request[statement]!.rows[0]![column]!,
        }))
      : [],
  );

/** A number that is always about as far from one of an earlier answer. */
function fartherOn(requests: Sent[][], place: Place): Origin {
  const near = answersBefore(requests, place).flatMap(({ statement, column, of }) => {
    const distances = requests.map((request) => Number(partAt(request, place)) - Number(of(request) ?? NaN));
    const [least, most] = [Math.min(...distances), Math.max(...distances)];
    return most - least < NEAR ? [{ statement, column, plus: most, spread: most - least }] : [];
  });
  const [nearest] = near.sort((a, b) => a.spread - b.spread);
  if (nearest) return { is: 'answer', statement: nearest.statement, column: nearest.column, plus: nearest.plus };
  throw new Error(`pgbench cannot make up $${place[1] + 1} of: ${requests[0]![place[0]]!.text}`);
}
