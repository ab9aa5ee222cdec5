import { useParams } from 'wouter';
import { PlanList } from '../plans/list.tsx';
import { PlanPage } from '../plans/plan.tsx';

export function PlansPage() {
  const { name } = useParams();
  return name === undefined ? <PlanList /> : <PlanPage key={name} name={name} />;
}
