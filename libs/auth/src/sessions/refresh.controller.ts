import { Controller, Post, Req } from '@nestjs/common';
import { Public } from '../http/authenticated.decorator';
import { PresentedRefreshToken } from '../http/presented-refresh-token';
import type { SessionTokens } from '../http/session-tokens';
import { HandsOnItsScope } from '../http/scoping';
import { DeliversTokens } from '../http/token-delivery';
import { RequestScope } from '../kernel/request-scope';
import { Throttled } from '../throttling/throttled.decorator';
import { RefreshRotation } from './refresh-rotation';

@Controller('refresh')
export class RefreshController {
  constructor(private readonly rotation: RefreshRotation) {}

  /** Not gated by abilities: any session may renew itself. */
  @Post()
  @Public()
  @Throttled('svc-refresh')
  @DeliversTokens()
  @HandsOnItsScope()
  refresh(@PresentedRefreshToken() refreshToken: string, @Req() request: object): Promise<SessionTokens> {
    return this.rotation.rotate(refreshToken, RequestScope.of(request));
  }
}
