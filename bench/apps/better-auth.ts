// better-auth with Nest as in its guides: a guard that gets the session of the request's cookie.
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
import { fromNodeHeaders } from 'better-auth/node';
import type { IncomingMessage } from 'node:http';
import { BetterAuthInstance, type Variant } from './better-auth.instance';
import { SpentController } from './counting';
import { ANSWER, serve } from './serve';

async function main(): Promise<void> {
  const instance = await BetterAuthInstance.open(process.env.BENCH_VARIANT as Variant);

  @Injectable()
  class SessionGuard implements CanActivate {
    async canActivate(context: ExecutionContext): Promise<boolean> {
      const request = context.switchToHttp().getRequest<IncomingMessage & { session: unknown }>();
      const session = await instance.auth.api.getSession({ headers: fromNodeHeaders(request.headers) });
      if (!session) throw new UnauthorizedException();
      request.session = session;
      return true;
    }
  }

  @Controller()
  class Routes {
    @Get('guarded')
    @UseGuards(SessionGuard)
    guarded() {
      return ANSWER;
    }

    @Get('sessions')
    sessions(@Query('count') count: string): Promise<string[]> {
      return instance.sessions(Number(count));
    }
  }

  @Module({ controllers: [Routes, SpentController] })
  class BetterAuthApp {}

  await serve(BetterAuthApp);
}

void main();
