import { Controller, Get, Header } from '@nestjs/common';
import type { JsonWebKey } from 'node:crypto';
import { PublicRoute } from '../realm/route-metadata';
import { Keyring } from './keyring';

@Controller('jwks')
export class JwksController {
  constructor(private readonly keyring: Keyring) {}

  /** The realm's public keys; an empty set under HS256, whose key is secret. */
  @Get()
  @PublicRoute(true)
  @Header('Cache-Control', 'max-age=3600, public')
  keys(): { keys: JsonWebKey[] } {
    return this.keyring.jwks();
  }
}
