import type { Parameter } from './parameters';

/** A sent statement and its result. */
export interface Sent {
  text: string;
  parameters: Parameter[];
  rows: Record<string, string | null>[];
}

/** Two consecutive requests of one session. */
export type Chain = readonly [Sent[], Sent[]];

/** The position of a part of a parameter: statement, parameter, part. */
export type Place = readonly [number, number, number];

/** The source of a part of a parameter. */
export type Origin =
  /** The same value for every session. */
  | { is: 'constant'; value: string | null }
  /** A column of an earlier result of the same request, or a number at a constant distance from it. */
  | { is: 'answer'; statement: number; column: string; plus?: number }
  /** A value of the session that is the same in all its requests. */
  | { is: 'own'; place: Place };

/** The maximum difference in seconds between two equal distances: the time between two lines of code. */
const NEAR = 0.5;

export const partAt = (request: Sent[], [statement, parameter, part]: Place): string | null =>
  request[statement]!.parameters[parameter]!.parts[part]!;

export const placesOf = (request: Sent[]): Place[] =>
  request.flatMap(({ parameters }, statement) =>
    parameters.flatMap(({ parts }, parameter) => parts.map((_, part) => [statement, parameter, part] as const)),
  );

/**
 * Finds the source of a part of a parameter: the one that is consistent with every recording.
 *
 * @throws for a source that pgbench cannot imitate
 */
export function originOf(chains: readonly Chain[], place: Place): Origin {
  const requests = chains.flat();
  const at = (request: Sent[]): string | null => partAt(request, place);
  const value = at(requests[0]!);

  if (requests.every((request) => at(request) === value)) return { is: 'constant', value };
  const answers = answersBefore(requests, place);
  const answer = answers.find(({ of }) => requests.every((request) => of(request) === at(request)));
  if (answer) return { is: 'answer', statement: answer.statement, column: answer.column };
  if (chains.every(([one, next]) => at(one) === at(next))) return { is: 'own', place };
  const distant = atDistance(requests, answers, at);
  if (distant) return distant;
  throw new Error(`pgbench cannot compute $${place[1] + 1} of: ${requests[0]![place[0]]!.text}`);
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

/** A number at a constant distance from one of an earlier result: the next generation, or a later time. */
function atDistance(requests: Sent[][], answers: Column[], at: (request: Sent[]) => string | null): Origin | undefined {
  const near = answers.flatMap(({ statement, column, of }) => {
    const distances = requests.map((request) => Number(at(request)) - Number(of(request) ?? NaN));
    const [least, most] = [Math.min(...distances), Math.max(...distances)];
    return most - least < NEAR ? [{ statement, column, plus: most, spread: most - least }] : [];
  });
  const [nearest] = near.sort((a, b) => a.spread - b.spread);
  return nearest && { is: 'answer', statement: nearest.statement, column: nearest.column, plus: nearest.plus };
}
