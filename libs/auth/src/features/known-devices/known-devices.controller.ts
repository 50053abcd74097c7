import { Controller, Param, Req } from '@nestjs/common';
import { FLAG, TEXT, TIME, UUID, namedSchema, of, orNull, record } from '../../foundation/platform/schema';
import type { Caller } from '../../identity/tokens/caller';
import { CurrentCaller } from '../../request/gates/authenticated';
import { RequestBody } from '../../request/http/request-body';
import { type CallSource, Flow } from '../../request/http/server-call';
import { Route, listed } from '../../request/routes/route';
import { RequireIfPinned } from '../sessions/pinned-ability.gate';
import type { ListedKnownDevice } from './known-device.store';
import { KnownDevices } from './known-devices';
import { ReportFailed, SignInReportBody, SignInReports } from './sign-in-report';

/** The fields of a device in the list and in the export of an account. */
export const DEVICE = { id: UUID, first_seen_at: TIME, last_seen_at: TIME, user_agent: orNull(TEXT) };

const LISTED = namedSchema(
  'AuthKnownDevice',
  record<ListedKnownDevice>({ ...DEVICE, current: of(FLAG, 'Whether it is the device of this request.') }),
);

@Controller()
export class KnownDevicesController {
  constructor(
    private readonly devices: KnownDevices,
    private readonly reports: SignInReports,
  ) {}

  @Route('GET', 'devices', 'devices_list', {
    summary: 'Lists the devices on which the caller has signed in',
    gates: [RequireIfPinned('svc.sessions')],
    unlimited: 'it reads the devices of the caller',
    answer: listed(LISTED),
    quiet: true,
  })
  own(@CurrentCaller() { userId }: Caller, @Req() request: object): Promise<ListedKnownDevice[]> {
    return this.devices.list(userId, request);
  }

  /** Forgets a device: the next sign-in on it is one on a new device. Ends no session. */
  @Route('DELETE', 'devices/:svcKnownDevice', 'device_forget', {
    summary: 'Forgets a device of the caller',
    note: 'Ends no session. An id that is unknown has no effect.',
    parameters: { svcKnownDevice: of(UUID, 'The id of a known device.') },
    gates: [RequireIfPinned('svc.sessions')],
    unlimited: 'it removes a row that a sign-in has added',
  })
  forget(@CurrentCaller() { userId }: Caller, @Param('svcKnownDevice') id: string): Promise<void> {
    return this.devices.forget(userId, id);
  }

  /** The link opens a page of the host, which posts the token. So a program that opens links in mails changes nothing. */
  @Route('POST', 'sessions/report', 'sign_in_report', {
    summary: 'Ends all sessions with the token of the mail about a sign-in, and mails a reset link',
    note: 'Every link that is not accepted gets the same text. A link that is used again gets the same answer.',
    public: true,
    limiter: 'svc-mailed-links',
    done: 'sign-in-reported',
    refusals: [ReportFailed],
    quiet: true,
  })
  report(@RequestBody() { token }: SignInReportBody): Promise<void> {
    return this.reports.report(token);
  }
}

declare module '../../request/http/server-call' {
  interface Capabilities {
    /** The known devices of a caller, and the report of a sign-in. */
    readonly knownDevices: KnownDeviceFlow;
  }
}

/**
 * The known devices of a caller, and the report of a sign-in, for code of the host. Needs `features.knownDevices`.
 *
 * @publicApi
 */
export class KnownDeviceFlow extends Flow {
  /** As `GET /devices`: lists the devices, the last sign-in first. @throws Unauthenticated, InsufficientScope */
  list(source: CallSource): Promise<ListedKnownDevice[]> {
    return this.call(KnownDevicesController, 'own', source);
  }

  /** As `DELETE /devices/:id`. An unknown id has no effect. @throws Unauthenticated, InsufficientScope */
  forget(id: string, source: CallSource): Promise<void> {
    return this.call(KnownDevicesController, 'forget', source, { svcKnownDevice: id });
  }

  /** As `POST /sessions/report`. @throws ReportFailed, ValidationFailed, TooManyRequests, StoreUnavailable */
  report(token: string, source: CallSource): Promise<void> {
    return this.call(KnownDevicesController, 'report', source, { token });
  }
}
