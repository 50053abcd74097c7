import { Module } from '@nestjs/common';
import { AuthModule as TokenAuthModule } from '@svc/auth';
import { SessionModule } from '../session/session.module.js';
import { UsersModule } from '../users/users.module.js';
import { AuthController } from './auth.controller.js';
import { authOptions } from './auth.options.js';
import { AuthService } from './auth.service.js';

@Module({
  imports: [UsersModule, SessionModule, TokenAuthModule.forRootAsync(authOptions)],
  controllers: [AuthController],
  providers: [AuthService],
  exports: [AuthService],
})
export class AuthModule {}
