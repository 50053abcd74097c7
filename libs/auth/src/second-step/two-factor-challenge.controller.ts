import { Controller, Post, Req } from '@nestjs/common';
import { Public } from '../http/authenticated.decorator';
import { RequestBody } from '../http/body.pipe';
import type { SessionTokens } from '../http/session-tokens';
import { DeliversTokens } from '../http/token-delivery';
import { Throttled } from '../throttling/throttled.decorator';
import { ChallengeCompletion } from './challenge-completion';
import { TwoFactorChallengeRequest } from './two-factor-challenge.request';

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
