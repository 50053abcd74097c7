import { Controller, Post, Req } from '@nestjs/common';
import { Public } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { type SessionTokens, DeliversTokens } from '../../request/http/route.interceptor';
import { Throttled } from '../../request/throttling/limiters';
import { ChallengeCompletion, TwoFactorChallengeRequest } from './challenge';

@Controller('two-factor-challenge')
export class TwoFactorChallengeController {
  constructor(private readonly completion: ChallengeCompletion) {}

  @Post()
  @Public()
  @Throttled('svc-2fa')
  @DeliversTokens()
  complete(
    @RequestBody(TwoFactorChallengeRequest) answer: TwoFactorChallengeRequest,
    @Req() request: object,
  ): Promise<SessionTokens> {
    return this.completion.complete(answer, request);
  }
}
