import { createHmac } from 'node:crypto';
import type { Clock } from '@svc/auth';

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** RFC 4648 §6. An independent implementation, because tests compare it with the library. */
export function fromBase32(text: string): Buffer {
  const bits = [...text].map((char) => BASE32.indexOf(char).toString(2).padStart(5, '0')).join('');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

/** The code of a time step (RFC 4226 §5.3). */
export function codeAt(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', fromBase32(secret)).update(counter).digest();
  const number = mac.readUInt32BE(mac.at(-1)! & 15) & 0x7f_ff_ff_ff;
  return String(number % 1e6).padStart(6, '0');
}

/** The time step in seconds (RFC 6238 §4). */
const STEP = 30;

export const stepOf = (clock: Clock): number => Math.floor(clock.seconds() / STEP);

export const secretIn = (otpauthUri: string): string => new URL(otpauthUri).searchParams.get('secret') ?? '';
