import { useParams } from 'wouter';
import { RunList } from '../runs/run-list.tsx';
import { RunPage } from '../runs/run-page.tsx';
import '../styles/runs.css';

export function RunsPage() {
  const { id } = useParams();
  return id === undefined ? <RunList /> : <RunPage key={id} id={id} />;
}
