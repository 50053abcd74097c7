import { Controller, Get, UseGuards } from '@nestjs/common';
import { ApiSecurity } from '@nestjs/swagger';
import { ThrottlerGuard } from '@nestjs/throttler';
import { Authenticated, CurrentUser } from '@svc/auth';
import type { StaffMember } from './staff-member.entity';

/** A route of the guard whose users sign in with a username. */
@Controller('staff')
@ApiSecurity('staff_access_token')
@Authenticated('staff')
@UseGuards(ThrottlerGuard)
export class StaffController {
  @Get()
  show(@CurrentUser() { id, handle }: StaffMember) {
    return { data: { id, handle } };
  }
}
