import { Module } from '@nestjs/common';
import { AuthModule } from '@svc/auth';
import { ReportsController } from './reports.controller.js';
import { Subjects } from './subjects.js';

/** A service without tables, private key and users of its own. */
@Module({
  imports: [
    AuthModule.forRoot({
      verifyOnly: true,
      users: { provider: Subjects },
      algorithm: 'ES256',
      keys: { jwks: `${process.env.ISSUER_URL ?? 'http://localhost:3000'}/auth/jwks` },
      issuer: 'https://api.example.com',
      audience: 'https://reports.example.com',
      // The Redis of the issuer: a session that ends there is refused here with the next request.
      redis: { url: process.env.REDIS_URL ?? 'redis://localhost:6379' },
    }),
  ],
  controllers: [ReportsController],
})
export class ReportsModule {}
