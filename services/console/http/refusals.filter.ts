import type { ServerResponse } from 'node:http';
import { HttpException, type ArgumentsHost, type ExceptionFilter } from '@nestjs/common';
import type { Logger } from 'pino';
import { QueryRefusedError, QueryUnavailableError } from '#libs/messaging';
import { RefusedError } from './refusal.js';
import { sendRefusal } from './send.js';

/** Every "no" has the same shape: `{error: {code, message, issues}}`. */
export class RefusalsFilter implements ExceptionFilter {
  readonly #logger: Logger;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  catch(exception: unknown, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse<ServerResponse>();
    if (response.headersSent) return void response.destroy();
    if (exception instanceof HttpException && exception.getStatus() !== 404) {
      // The health checks say in their own words what is down.
      response.statusCode = exception.getStatus();
      response.setHeader('Content-Type', 'application/json; charset=utf-8');
      return void response.end(JSON.stringify(exception.getResponse()));
    }
    return sendRefusal(response, this.#refusalOf(exception));
  }

  #refusalOf(exception: unknown): RefusedError {
    if (exception instanceof RefusedError) return exception;
    if (exception instanceof QueryRefusedError) {
      // The token of the client was good; it is what he may do that was refused.
      const { refusal } = exception;
      return refusal.code === 'UNAUTHORIZED' ? new RefusedError(refusal, 403) : new RefusedError(refusal);
    }
    if (exception instanceof QueryUnavailableError) {
      return new RefusedError({ code: 'TRY_AGAIN', message: exception.message });
    }
    if (exception instanceof HttpException)
      return new RefusedError({ code: 'NOT_FOUND', message: 'There is nothing here.' });
    this.#logger.error({ err: exception }, 'nobody caught this');
    return new RefusedError({ code: 'TRY_AGAIN', message: 'The console could not answer this.' }, 500);
  }
}
