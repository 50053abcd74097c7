import { Module } from '@nestjs/common';
import { JwtModule } from '@nestjs/jwt';
import { TypeOrmModule } from '@nestjs/typeorm';
import { FormerSessions } from './former-sessions.js';
import { SessionEntity } from './session.entity.js';

@Module({
  imports: [TypeOrmModule.forFeature([SessionEntity]), JwtModule.register({})],
  providers: [FormerSessions],
  exports: [FormerSessions],
})
export class SessionModule {}
