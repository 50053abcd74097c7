// The work of `bare.ts` on one pipelined connection, behind an ordinary guard of Nest.
import {
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  Injectable,
  Module,
  Query,
  UnauthorizedException,
  UseGuards,
} from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import { BareSessions } from './bare-sessions';
import { SpentController } from './counting';
import { ANSWER, serve } from './serve';

@Injectable()
class LeanGuard implements CanActivate {
  constructor(private readonly sessions: BareSessions) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<IncomingMessage & { user: unknown }>();
    const user = await this.sessions.authenticate(request.headers.authorization);
    if (!user) throw new UnauthorizedException();
    request.user = user;
    return true;
  }
}

@Controller()
class Routes {
  constructor(private readonly sessions: BareSessions) {}

  @Get('guarded')
  @UseGuards(LeanGuard)
  guarded() {
    return ANSWER;
  }

  @Get('sessions')
  start(@Query('count') count: string) {
    return this.sessions.start(Number(count));
  }
}

@Module({
  controllers: [Routes, SpentController],
  providers: [{ provide: BareSessions, useFactory: () => BareSessions.open('pipelined') }],
})
class LeanApp {}

void serve(LeanApp);
