import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import { type Observable, defer, lastValueFrom } from 'rxjs';
import { RequestScope } from '../kernel/request-scope';
import { Applicants } from './applicants';

/**
 * Has whatever a request to the library's routes hashes count as its sender's share, and all its waits for the
 * stores as one. `RouteGuard` does so for the gates before it.
 */
@Injectable()
export class RequestScoping implements NestInterceptor {
  constructor(private readonly applicants: Applicants) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const request: object = context.switchToHttp().getRequest();
    const scope = RequestScope.of(request);
    scope.applicant = () => this.applicants.of(request);
    const handled = (): Promise<unknown> => lastValueFrom(next.handle(), { defaultValue: undefined });
    return defer(() => scope.run(handled).finally(() => scope.end()));
  }
}
