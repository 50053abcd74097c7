import { Controller, Get, Post } from '@nestjs/common';
import { Abilities, Authenticated, type Caller, CurrentCaller, CurrentUser, RequireConfirmation } from '@svc/auth';
import { AcceptsKeys, type CreatedKey, type KeySpec } from '@svc/auth/access-keys';
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { TestApp, Tokens } from '../hosts/app';
import { ADA, type Person } from '../hosts/user-entities';
import { CONFIRMATION_HEADER, confirmationTokenOf } from './step-up';

/** Routes of a host with and without keys. */
@Controller('orders')
export class KeyedOrders {
  @Get()
  @AcceptsKeys()
  list(@CurrentUser() user: Person | null, @CurrentCaller() { userId, keyId, service, grant }: Caller) {
    return { email: user?.email ?? null, userId, keyId, service, abilities: grant.abilities };
  }

  @Post()
  @AcceptsKeys()
  @Abilities('orders.write')
  create() {
    return {};
  }

  @Get('mine')
  @Authenticated()
  mine(@CurrentUser() { email }: Person) {
    return { email };
  }

  @Post('confirmed')
  @AcceptsKeys()
  @RequireConfirmation()
  confirmed() {
    return {};
  }

  @Get('staff')
  @AcceptsKeys('admin')
  staff(@CurrentCaller() { userId, guard }: Caller) {
    return { userId, guard };
  }
}

/** A person with a session and a confirmation token. */
export interface KeyOwnerSession {
  readonly tokens: Tokens;
  readonly proof: string;
}

export async function keyOwner(t: TestApp, email = ADA): Promise<KeyOwnerSession> {
  const tokens = await t.session(email);
  return { tokens, proof: await confirmationTokenOf(t, tokens.access_token) };
}

/** `POST /access-keys` of a person who has confirmed. */
export const postKey = (t: TestApp, { tokens, proof }: KeyOwnerSession, body: object = {}) =>
  t
    .call('post', '/auth/access-keys', tokens.access_token)
    .set(CONFIRMATION_HEADER, proof)
    .send({ label: 'cron', ...body });

export async function createKey(t: TestApp, owner: KeyOwnerSession, body: object = {}): Promise<CreatedKey> {
  return (await postKey(t, owner, body).expect(200)).body as CreatedKey;
}

/** A key that code of the host creates for a service. */
export const serviceKey = (t: TestApp, spec: Partial<KeySpec> = {}): Promise<CreatedKey> =>
  t.auth.accessKeys.create({ service: 'ci' }, { label: 'deploy', ...spec });

/** A key with a right checksum and a secret that no key has, of an id that is given or random. */
export function forgedKey(id: string = randomBytes(16).toString('hex'), prefix = 'svc'): string {
  const body = `${prefix}_${id.replaceAll('-', '')}_${randomBytes(32).toString('hex')}`;
  return body + crc32(body).toString(16).padStart(8, '0');
}
