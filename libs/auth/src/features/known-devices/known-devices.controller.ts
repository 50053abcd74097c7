import { Controller, Delete, Get, HttpCode, Injectable, Param, Post, Req } from '@nestjs/common';
import type { Caller } from '../../identity/tokens/caller';
import { Authenticated, CurrentCaller, Public } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { NoStore } from '../../request/http/route.interceptor';
import { type CallSource, Flow, type ServerRequest } from '../../request/http/server-call';
import { Throttled } from '../../request/throttling/limiters';
import { Unlimited } from '../../foundation/realm/feature';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import type { ListedKnownDevice } from './known-device.store';
import { KnownDevices } from './known-devices';
import { SignInReportBody, SignInReports } from './sign-in-report';

@Controller('devices')
@Authenticated()
export class KnownDevicesController {
  constructor(private readonly devices: KnownDevices) {}

  /** Lists the devices on which the caller has signed in. */
  @Get()
  @NoStore()
  @RequireIfPinned('svc.sessions')
  @Unlimited('it reads the devices of the caller')
  async own(@CurrentCaller() { userId }: Caller, @Req() request: object): Promise<{ data: ListedKnownDevice[] }> {
    return { data: await this.devices.list(userId, request) };
  }

  /** Forgets a device: the next sign-in on it is one on a new device. Ends no session. */
  @Delete(':svcKnownDevice')
  @HttpCode(204)
  @RequireIfPinned('svc.sessions')
  @Unlimited('it removes a row that a sign-in has added')
  forget(@CurrentCaller() { userId }: Caller, @Param('svcKnownDevice') id: string): Promise<void> {
    return this.devices.forget(userId, id);
  }
}

/** The link opens a page of the host, which posts the token. So a program that opens links in mails changes nothing. */
@Controller('sessions/report')
export class SignInReportController {
  constructor(private readonly reports: SignInReports) {}

  @Post()
  @HttpCode(200)
  @NoStore()
  @Public()
  @Throttled('svc-password-reset')
  async report(@RequestBody(SignInReportBody) { token }: SignInReportBody): Promise<{ status: string }> {
    await this.reports.report(token);
    return { status: 'sign-in-reported' };
  }
}

/**
 * The known devices of a caller, and the report of a sign-in, for code of the host. Needs `features.knownDevices`.
 *
 * @publicApi
 */
@Injectable()
export class KnownDeviceFlow extends Flow {
  protected override readonly feature = 'knownDevices';

  /** As `GET /devices`: lists the devices, the last sign-in first. @throws Unauthenticated, InsufficientScope */
  async list(source: CallSource): Promise<ListedKnownDevice[]> {
    const devices = this.get(KnownDevices);
    return this.callAs(KnownDevicesController, 'own', source, ({ userId }, request) => devices.list(userId, request));
  }

  /** As `DELETE /devices/:id`. An unknown id has no effect. @throws Unauthenticated, InsufficientScope */
  async forget(id: string, source: CallSource): Promise<void> {
    const devices = this.get(KnownDevices);
    return this.callAs(KnownDevicesController, 'forget', source, ({ userId }) => devices.forget(userId, id));
  }

  /** As `POST /sessions/report`. @throws ReportFailed, ValidationFailed, TooManyRequests, StoreUnavailable */
  async report(token: string, source: CallSource): Promise<void> {
    const reports = this.get(SignInReports);
    const report = async (request: ServerRequest): Promise<void> =>
      reports.report(this.read(SignInReportBody, request).token);
    return this.call(SignInReportController, 'report', source, report, { token });
  }
}
