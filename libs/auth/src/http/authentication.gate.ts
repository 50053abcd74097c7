import { type ExecutionContext, Injectable } from '@nestjs/common';
import { Authenticator } from '../tokens/authenticator';
import type { Gate } from './gate';
import { RouteGuard } from './route.guard';

type AuthenticatedRequest = Parameters<Authenticator['authenticate']>[0] & { user?: object };

/** Requires a valid access token of the route's guard. */
@Injectable()
export class AuthenticationGate implements Gate {
  static readonly stage = 'authentication';

  constructor(private readonly authenticator: Authenticator) {}

  async check(_context: ExecutionContext, request: AuthenticatedRequest): Promise<void> {
    request.user = (await this.authenticator.authenticate(request)).user;
  }
}

/**
 * The guard as a class: with `{ provide: APP_GUARD, useExisting: AccessTokenGuard }` every route of the
 * host needs a token, unless it is `@Public()`.
 *
 * @publicApi
 */
@Injectable()
export class AccessTokenGuard extends RouteGuard {
  /** `@UseGuards(AccessTokenGuard)` guards where it stands, also below a `@Public()` class. */
  static readonly closes = true;
  protected override readonly always = [AuthenticationGate];
}
