import { applyDecorators, Catch, Controller, UseFilters, type ExceptionFilter } from '@nestjs/common';
import { Ctx, EventPattern, MessagePattern, Payload } from '@nestjs/microservices';
import type { DurableSpec } from '#proto';
import {
  Thrown,
  type Asker,
  type BatchMessage,
  type BusMessage,
  type BusPattern,
  type BusRequest,
  type Outcome,
  type QueryAnswer,
  type QueryName,
  type QueryRequest,
  type QueryService,
  type SubjectName,
  type TakeOptions,
} from '#libs/messaging';

/** Decorates a method of this type only. */
type Method<F> = <M extends F>(target: object, key: string | symbol, descriptor: TypedPropertyDescriptor<M>) => void;

@Catch()
class KeepsErrors implements ExceptionFilter {
  catch(error: unknown): Thrown {
    return new Thrown(error);
  }
}

/** A class whose methods take messages and answer queries. Listed under `controllers` of a module. */
export const TakesMessages = (): ClassDecorator => applyDecorators(Controller(), UseFilters(new KeepsErrors()));

/** A method that takes the messages of a durable: it says what becomes of each, and throws for broken infrastructure only. */
export const Takes = (
  { stream, durable }: DurableSpec,
  options: Omit<TakeOptions, 'isBatch'> = {},
): Method<(message: BusMessage) => Promise<Outcome>> => EventPattern<BusPattern>({ stream, durable }, { ...options });

/** A method that takes what came for the partitions of this replica, as it came together; each message is settled later. */
export const TakesPartitions = (
  stream: string,
  durable: `${string}<partition>`,
  options: Omit<TakeOptions, 'isBatch'> = {},
): Method<(messages: BatchMessage[]) => void> =>
  EventPattern<BusPattern>({ stream, durable }, { ...options, isBatch: true });

/**
 * A method that answers a query of its service, asked by somebody who may; it throws QueryRefusedError to refuse. Both directions are
 * validated. One that wants to know who asks says what is what: `@TheQuery() request, @By() asker`.
 */
export const Answers = <S extends QueryService, N extends QueryName<S>>(
  service: S,
  query: N,
): Method<(request: QueryRequest<S, N>, asker: Asker) => Promise<QueryAnswer<S, N>>> =>
  MessagePattern<BusPattern>({ service, query });

/** The parameter of a method that answers a query: what is asked. */
export const TheQuery = (): ParameterDecorator => Payload();

/** The parameter of a method that answers a query: the Asker. */
export const By = (): ParameterDecorator => Ctx();

/** A method that gives the one answer to what comes on a subject, whatever it is. */
export const AnswersSubject = (subject: SubjectName): Method<(request: BusRequest) => Promise<object>> =>
  MessagePattern<BusPattern>({ subject });
