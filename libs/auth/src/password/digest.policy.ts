/** Cost parameters written in an argon2 digest: KiB of memory, passes, lanes. */
export interface DigestCost {
  memoryCost: number;
  timeCost: number;
  parallelism: number;
}

const PHC = /^\$argon2id\$v=19\$([a-z]=\d{1,10}(?:,[a-z]=\d{1,10})*)\$[A-Za-z0-9+/]{11,86}\$[A-Za-z0-9+/]{22,172}$/;

/**
 * The cost a PHC string asks for, or undefined where it is no argon2id digest (RFC 9106 §3.1).
 * Libraries write `m`, `t` and `p` in different orders.
 */
export function digestCost(digest: string): DigestCost | undefined {
  const written = PHC.exec(digest)?.[1];
  if (!written) return undefined;
  const { m, t, p } = Object.fromEntries(written.split(',').map((pair) => pair.split('=')));
  const cost = { memoryCost: Number(m), timeCost: Number(t), parallelism: Number(p) };
  return Object.values(cost).every((value) => value >= 1) ? cost : undefined;
}

/**
 * Whether verifying a digest of this cost is affordable. A stored digest is data: one that asks for
 * gigabytes would stop the process, so anything far beyond what this server would write is no match.
 */
export const isAffordable = ({ memoryCost, timeCost, parallelism }: DigestCost): boolean =>
  memoryCost <= 524_288 && timeCost <= 16 && parallelism <= 16 && memoryCost * timeCost <= 1_048_576;
